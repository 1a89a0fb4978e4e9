export * from './caller-word.js'
export * from './codes.js'
export * from './core-codes.js'
export * from './finding.js'
