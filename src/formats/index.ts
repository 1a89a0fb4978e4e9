export * from './all-codes.js'
export * from './detect.js'
export * from './list.js'
export * from './open.js'
