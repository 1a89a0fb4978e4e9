// What llama.cpp calls a file type: which type most weights of a model have, and by which rules others get more or fewer bits. The number is
// stored as `general.file_type`.

export interface FileType {
  /** As llama-quantize calls it, in lower case. */
  readonly name: string
  /** The value of `general.file_type`. */
  readonly value: number
  /** The type of the weights that no rule is about. */
  readonly type: string
}

const fileType = (name: string, value: number, type: string = name): FileType => ({ name, value, type })

export const mixes: readonly FileType[] = [
  fileType('f32', 0),
  fileType('f16', 1),
  fileType('q4_0', 2),
  fileType('q4_1', 3),
  fileType('q8_0', 7),
  fileType('q5_0', 8),
  fileType('q5_1', 9),
  fileType('q2_k', 10),
  fileType('q3_k_s', 11, 'q3_k'),
  fileType('q3_k_m', 12, 'q3_k'),
  fileType('q3_k_l', 13, 'q3_k'),
  fileType('q4_k_s', 14, 'q4_k'),
  fileType('q4_k_m', 15, 'q4_k'),
  fileType('q5_k_s', 16, 'q5_k'),
  fileType('q5_k_m', 17, 'q5_k'),
  fileType('q6_k', 18),
  fileType('iq2_xxs', 19),
  fileType('iq2_xs', 20),
  fileType('q2_k_s', 21, 'q2_k'),
  fileType('iq3_xs', 22, 'iq3_s'),
  fileType('iq3_xxs', 23),
  fileType('iq1_s', 24),
  fileType('iq4_nl', 25),
  fileType('iq3_s', 26),
  fileType('iq3_m', 27, 'iq3_s'),
  // document: llama-quantize's help calls IQ2_S 2.5 bits; most of its weights are iq2_xs, and those of IQ2_M are iq2_s.
  fileType('iq2_s', 28, 'iq2_xs'),
  fileType('iq2_m', 29, 'iq2_s'),
  fileType('iq4_xs', 30),
  fileType('iq1_m', 31),
  fileType('bf16', 32),
  fileType('tq1_0', 36),
  fileType('tq2_0', 37),
  fileType('mxfp4_moe', 38, 'mxfp4'),
  fileType('q1_0', 40),
  fileType('q2_0', 41),
]

/** Names of types that stand for a mix of several. */
const aliases: Readonly<Record<string, string>> = { q3_k: 'q3_k_m', q4_k: 'q4_k_m', q5_k: 'q5_k_m' }

/** Types that llama.cpp has a number for, and no mix. */
const singleTypes: readonly FileType[] = [fileType('mxfp4', 38), fileType('nvfp4', 39)]

const plainName = (name: string): string => name.toLowerCase().replace(/^ggml\./, '')

/** The mix of this name, or that a type of this name stands for. */
export function mixOf(name: string): FileType | undefined {
  const plain = plainName(name)
  const wanted = aliases[plain] ?? plain
  return mixes.find((each) => each.name === wanted)
}

/** The type of this name where there is no mix for it. */
export const singleTypeOf = (name: string): FileType | undefined =>
  singleTypes.find((each) => each.name === plainName(name))

/** The value of `general.file_type` where most weights have this type, or take this mix. */
export const fileTypeValue = (name: string): number | undefined => (mixOf(name) ?? singleTypeOf(name))?.value
