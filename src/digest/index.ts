export * from './hasher.js'
