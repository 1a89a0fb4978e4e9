export { type BlockLayout, type Field, fieldOffset, layouts, wideNumbers } from './layouts.js'
export * from './types.js'
