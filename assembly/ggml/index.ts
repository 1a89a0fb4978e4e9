export { encodeQ4_0, encodeQ8_0 } from './encode'
export { decodeQ4_0, decodeQ8_0 } from './legacy'
export { decodeQ4_K, decodeQ5_K } from './nested'
export { decodeQ6_K } from './six-bits'
