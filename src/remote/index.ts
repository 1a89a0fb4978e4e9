export type { RangeStore } from './block-cache.js'
export { remoteCodes } from './codes.js'
export { type HttpOptions, HttpSource } from './http-source.js'
