export { wideNumbers } from './layouts.js'
export * from './types.js'
