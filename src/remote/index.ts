export type { RangeStore } from './block-cache.js'
export { remoteCodes } from './codes.js'
export { type HttpOptions, HttpSource } from './http-source.js'
export type { S3Credentials, S3Options } from './s3/client.js'
