export { decodeQ2_K, decodeQ3_K, decodeQ4_K, decodeQ5_K, decodeQ6_K } from './decode-k'
export { decodeQ4_0, decodeQ8_0 } from './decode-legacy'
export {
  encodeMXFP4,
  encodeNVFP4,
  encodeQ1_0,
  encodeQ2_0,
  encodeTQ1_0,
  encodeTQ2_0,
} from './encode-flat'
export { encodeIQ1_M } from './encode-iq1m'
export { encodeIQ1_S } from './encode-iq1s'
export { encodeIQ4_NL, encodeIQ4_XS } from './encode-iq4'
export {
  encodeClosedIQ3_S,
  encodeIQ2_S,
  encodeIQ2_XS,
  encodeIQ2_XXS,
  encodeIQ3_S,
  encodeIQ3_XXS,
} from './encode-iq23'
export { encodeQ2_K, encodeQ3_K, encodeQ4_K, encodeQ5_K, encodeQ6_K } from './encode-k'
export { encodeQ4_0, encodeQ4_1, encodeQ5_0, encodeQ5_1, encodeQ8_0 } from './encode-legacy'
export {
  encodeExactQ2_K,
  encodeExactQ3_K,
  encodeExactQ4_K,
  encodeExactQ5_K,
  encodeExactQ6_K,
} from './exact/encode-k'
export { firstAtLeast } from './first-at-least'
export { prepareLattice } from './lattice'
export { markUnusual } from './unusual'
