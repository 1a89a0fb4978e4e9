export * from './bundle.js'
export * from './codes.js'
export * from './manifest.js'
export * from './receipt-statement.js'
