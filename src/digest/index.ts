export { createHasher, digestOf, digestProviderName, registerDigest } from './hasher.js'
export * from './types.js'
