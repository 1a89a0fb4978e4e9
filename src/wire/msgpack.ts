// MessagePack: a tree of values to and from bytes, and the token reader and writer beneath for those who lay out every byte themselves.
export * from './msgpack-codes.js'
export * from './msgpack-decode.js'
export type * from './msgpack-node.js'
export * from './msgpack-reader.js'
export * from './msgpack-writer.js'
