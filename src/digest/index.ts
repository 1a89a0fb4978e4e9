export * from './hasher.js'
export * from './types.js'
