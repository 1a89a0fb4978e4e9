// MessagePack: a tree of values to and from bytes, and beneath it a reader and a writer of single tokens, for formats that fix every byte.
export * from './codes.js'
export * from './decode.js'
export type * from './node.js'
export * from './reader.js'
export * from './writer.js'
