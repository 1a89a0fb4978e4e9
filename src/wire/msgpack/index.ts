// MessagePack: a tree of values to and from bytes, and the token reader and writer beneath for those who lay out every byte themselves.
export * from './codes.js'
export * from './decode.js'
export type * from './node.js'
export * from './reader.js'
export * from './writer.js'
