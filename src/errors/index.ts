export * from './codes.js'
export * from './core-codes.js'
export * from './finding.js'
export * from './nearest.js'
