// How the codes of a ggml block are told from its scales. A decoder computes scale · code + offset, so it gives the codes when every scale
// is 1 and every offset 0, the scales when every code is 1 and every offset 0, and the offsets when every code is 0. The patterns below set the
// fields of a block to that. No second decoder is needed, and none can disagree.
import {
  type BlockLayout,
  type BlockName,
  blockBytes,
  fieldOffset,
  fieldSize,
  layouts,
} from '../kernels/ggml/layouts.js'

/** Bytes to write over each field, repeated to its end. */
type Pattern = Readonly<Record<string, readonly number[]>>

export interface CodePatterns {
  readonly layout: BlockLayout
  /** Elements that share a scale. */
  readonly perScale: number
  readonly scalesOne: Pattern
  readonly codesZero: Pattern
  readonly codesOne: Pattern
  /** Absent where the type has no offsets. */
  readonly offsetsZero?: Pattern
}

const halfOne = [0x00, 0x3c]
/** Eight scales of 1 and eight minimums of 0, six bits each. */
const packedScales = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]
/** Sixteen scales of 33, which stands for 1: four low bits each, then two high bits each. */
const centredScales = [0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0xaa, 0xaa, 0xaa, 0xaa]

const patterns: Partial<Record<BlockName, Omit<CodePatterns, 'layout'>>> = {
  q4_0: { perScale: 32, scalesOne: { d: halfOne }, codesZero: { qs: [0x88] }, codesOne: { qs: [0x99] } },
  q4_1: {
    perScale: 32,
    scalesOne: { d: halfOne },
    codesZero: { qs: [0] },
    codesOne: { qs: [0x11] },
    offsetsZero: { m: [0] },
  },
  q5_0: {
    perScale: 32,
    scalesOne: { d: halfOne },
    codesZero: { qh: [0xff], qs: [0] },
    codesOne: { qh: [0xff], qs: [0x11] },
  },
  q5_1: {
    perScale: 32,
    scalesOne: { d: halfOne },
    codesZero: { qh: [0], qs: [0] },
    codesOne: { qh: [0], qs: [0x11] },
    offsetsZero: { m: [0] },
  },
  q8_0: { perScale: 32, scalesOne: { d: halfOne }, codesZero: { qs: [0] }, codesOne: { qs: [1] } },
  q2_k: {
    perScale: 16,
    scalesOne: { d: halfOne, scales: [1] },
    codesZero: { qs: [0] },
    codesOne: { qs: [0x55] },
    offsetsZero: { dmin: [0] },
  },
  q3_k: {
    perScale: 16,
    scalesOne: { d: halfOne, scales: centredScales },
    codesZero: { hmask: [0xff], qs: [0] },
    codesOne: { hmask: [0xff], qs: [0x55] },
  },
  q4_k: {
    perScale: 32,
    scalesOne: { d: halfOne, scales: packedScales },
    codesZero: { qs: [0] },
    codesOne: { qs: [0x11] },
    offsetsZero: { dmin: [0] },
  },
  q5_k: {
    perScale: 32,
    scalesOne: { d: halfOne, scales: packedScales },
    codesZero: { qh: [0], qs: [0] },
    codesOne: { qh: [0], qs: [0x11] },
    offsetsZero: { dmin: [0] },
  },
  q6_k: {
    perScale: 16,
    scalesOne: { d: halfOne, scales: [1] },
    codesZero: { ql: [0], qh: [0xaa] },
    codesOne: { ql: [0x11], qh: [0xaa] },
  },
  q8_k: { perScale: 256, scalesOne: { d: [0, 0, 0x80, 0x3f] }, codesZero: { qs: [0] }, codesOne: { qs: [1] } },
}

const prefix = 'ggml.'

/** Undefined for types whose codes are no multiples of a scale, such as those of lattices and tables. */
export function codePatternsOf(dtypeId: string): CodePatterns | undefined {
  const name = dtypeId.startsWith(prefix) ? (dtypeId.slice(prefix.length) as BlockName) : undefined
  const found = name && Object.hasOwn(patterns, name) ? patterns[name] : undefined
  return found && { ...found, layout: layouts[name!] }
}

/** A copy of whole blocks with patterns written over their fields. */
export function patched(
  blocks: Uint8Array,
  layout: BlockLayout,
  ...over: readonly (Pattern | undefined)[]
): Uint8Array {
  const bytes = blocks.slice()
  const size = blockBytes(layout)
  for (const pattern of over) {
    for (const [name, content] of Object.entries(pattern ?? {})) {
      const length = fieldSize(layout.fields.find((field) => field.name === name)!)
      for (let at = fieldOffset(layout, name); at < bytes.length; at += size)
        for (let i = 0; i < length; i++) bytes[at + i] = content[i % content.length]!
    }
  }
  return bytes
}
