// The compiled encoders, each with its plain twin.
import { compiledEncoder } from './compiled.js'
import { layouts } from './layouts.js'
import { encodeQ2_K, encodeQ3_K, encodeQ4_K, encodeQ5_K, encodeQ6_K } from './plain/encode-k.js'
import { encodeQ4_0, encodeQ4_1, encodeQ5_0, encodeQ5_1, encodeQ8_0 } from './plain/encode-legacy.js'

export const encoders = {
  q4_0: compiledEncoder('encodeQ4_0', layouts.q4_0, encodeQ4_0),
  q4_1: compiledEncoder('encodeQ4_1', layouts.q4_1, encodeQ4_1),
  q5_0: compiledEncoder('encodeQ5_0', layouts.q5_0, encodeQ5_0),
  q5_1: compiledEncoder('encodeQ5_1', layouts.q5_1, encodeQ5_1),
  q8_0: compiledEncoder('encodeQ8_0', layouts.q8_0, encodeQ8_0),
  q2_k: compiledEncoder('encodeQ2_K', layouts.q2_k, encodeQ2_K),
  q3_k: compiledEncoder('encodeQ3_K', layouts.q3_k, encodeQ3_K),
  q4_k: compiledEncoder('encodeQ4_K', layouts.q4_k, encodeQ4_K),
  q5_k: compiledEncoder('encodeQ5_K', layouts.q5_k, encodeQ5_K),
  q6_k: compiledEncoder('encodeQ6_K', layouts.q6_k, encodeQ6_K),
}
