export * from './list.js'
export * from './open.js'
export * from './verified-reads.js'
