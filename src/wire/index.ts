export * from './json/json.js'
export * from './json/scanner.js'
export * from './npy/header.js'
