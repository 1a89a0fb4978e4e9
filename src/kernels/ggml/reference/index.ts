// ggml's own quantizers: the same bytes for the same values, with and without importance weights.
import { compiledRows } from '../compiled.js'
import { encoders } from '../encoders.js'
import { compiledLattice } from '../lattice-tables.js'
import { type BlockName, blockBytes, type EncodeRow, layouts } from '../layouts.js'
import {
  encodeMXFP4,
  referenceMXFP4,
  referenceNVFP4,
  referenceQ1_0,
  referenceQ2_0,
  referenceTQ1_0,
  referenceTQ2_0,
} from './encode-flat.js'
import { referenceIQ1_M, referenceIQ1_S } from './encode-iq1.js'
import { referenceIQ4_NL, referenceIQ4_XS } from './encode-iq4.js'
import {
  encodeIQ3_S,
  referenceIQ2_S,
  referenceIQ2_XS,
  referenceIQ2_XXS,
  referenceIQ3_S,
  referenceIQ3_XXS,
} from './encode-iq23.js'
import { referenceQ2_K, referenceQ3_K, referenceQ4_K, referenceQ5_K, referenceQ6_K } from './encode-k.js'
import { referenceQ4_0, referenceQ4_1, referenceQ5_0, referenceQ5_1 } from './encode-simple.js'
import { grid1, grid2s, grid2xs, grid2xxs, grid3s, grid3xxs } from './grids.js'

/** What importance weights are to a type. */
export type WeightUse = 'ignored' | 'used' | 'required'

export interface RowEncoders {
  readonly weights: WeightUse
  /** As ggml, byte for byte. */
  readonly reference: EncodeRow
  /** As ggml, without what is wrong there. */
  readonly encode: EncodeRow
}

const row = (weights: WeightUse, reference: EncodeRow, encode = reference): RowEncoders => ({
  weights,
  reference,
  encode,
})

const fastMXFP4 = compiledRows('encodeMXFP4', layouts.mxfp4, encodeMXFP4)

/** ggml's bytes differ only in blocks of the lowest exponent. */
const exactMXFP4: EncodeRow = (values, target) => {
  fastMXFP4(values, target, undefined)
  const { elements } = layouts.mxfp4
  const size = blockBytes(layouts.mxfp4)
  for (let from = 0, at = 0; from < values.length; from += elements, at += size) {
    if (target[at] === 0) referenceMXFP4(values.subarray(from, from + elements), target.subarray(at), undefined)
  }
}

/** All types but those that no file holds, which are for activations. */
export type EncodableBlock = Exclude<BlockName, 'q8_1' | 'q8_k'>

export const rowEncoders: Readonly<Record<EncodableBlock, RowEncoders>> = {
  q4_0: row('used', referenceQ4_0),
  q4_1: row('used', referenceQ4_1),
  q5_0: row('used', referenceQ5_0),
  q5_1: row('used', referenceQ5_1),
  q8_0: row('ignored', (values, target) => encoders.q8_0(values, target, values.length / 32)),
  q2_k: row('used', compiledRows('encodeExactQ2_K', layouts.q2_k, referenceQ2_K)),
  q3_k: row('used', compiledRows('encodeExactQ3_K', layouts.q3_k, referenceQ3_K)),
  q4_k: row('used', compiledRows('encodeExactQ4_K', layouts.q4_k, referenceQ4_K)),
  q5_k: row('used', compiledRows('encodeExactQ5_K', layouts.q5_k, referenceQ5_K)),
  q6_k: row('used', compiledRows('encodeExactQ6_K', layouts.q6_k, referenceQ6_K)),
  iq2_xxs: row('required', compiledLattice('encodeIQ2_XXS', layouts.iq2_xxs, grid2xxs, referenceIQ2_XXS)),
  iq2_xs: row('required', compiledLattice('encodeIQ2_XS', layouts.iq2_xs, grid2xs, referenceIQ2_XS)),
  iq2_s: row('used', compiledLattice('encodeIQ2_S', layouts.iq2_s, grid2s, referenceIQ2_S)),
  iq3_xxs: row('used', compiledLattice('encodeIQ3_XXS', layouts.iq3_xxs, grid3xxs, referenceIQ3_XXS)),
  iq3_s: row(
    'used',
    compiledLattice('encodeClosedIQ3_S', layouts.iq3_s, grid3s, referenceIQ3_S),
    compiledLattice('encodeIQ3_S', layouts.iq3_s, grid3s, encodeIQ3_S),
  ),
  iq1_s: row('required', compiledLattice('encodeIQ1_S', layouts.iq1_s, grid1, referenceIQ1_S)),
  iq1_m: row('used', compiledLattice('encodeIQ1_M', layouts.iq1_m, grid1, referenceIQ1_M)),
  iq4_nl: row('used', compiledRows('encodeIQ4_NL', layouts.iq4_nl, referenceIQ4_NL)),
  iq4_xs: row('used', compiledRows('encodeIQ4_XS', layouts.iq4_xs, referenceIQ4_XS)),
  mxfp4: row('ignored', exactMXFP4, fastMXFP4),
  nvfp4: row('ignored', compiledRows('encodeNVFP4', layouts.nvfp4, referenceNVFP4)),
  tq1_0: row('ignored', compiledRows('encodeTQ1_0', layouts.tq1_0, referenceTQ1_0)),
  tq2_0: row('ignored', compiledRows('encodeTQ2_0', layouts.tq2_0, referenceTQ2_0)),
  q1_0: row('ignored', compiledRows('encodeQ1_0', layouts.q1_0, referenceQ1_0)),
  q2_0: row('ignored', compiledRows('encodeQ2_0', layouts.q2_0, referenceQ2_0)),
}
