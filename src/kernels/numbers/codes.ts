// Types of at most eight bits have so few codes that decoding is a lookup in a table of f32 patterns, one per code, and encoding one in a table
// by the upper half of the f32. Tables are made at the first use. The compiled kernels decode all codes of a byte together; the plain twins
// take what they leave, or everything where there is no WebAssembly.
import { bitsOf, bytesOf, requireBytes } from '../../bytes/views.js'
import { minElements, runSteps } from './convert.js'
import { numbersModule, tileSize } from './module.js'
import { type BitWidth, unpackers } from './plain/bit-packing.js'

/** Decodes packed codes of `width` bits. `patterns`: the f32 pattern of each code. */
export function codesToF32(
  width: BitWidth,
  patterns: () => Uint32Array,
): (source: Uint8Array, target: Float32Array) => void {
  let byCode: Uint32Array | undefined
  let byByte: Uint32Array | undefined
  return (source, target) => {
    requireBytes(source, Math.ceil((target.length * width) / 8))
    byCode ??= patterns()
    byByte ??= byteTable(width, byCode)
    const bits = bitsOf(target)
    const done = lookUp(width, byByte, source, bits)
    if (done < bits.length) unpackers[width](source.subarray((done * width) / 8), byCode, bits.subarray(done))
  }
}

/** The patterns of all codes in each byte, lowest bits first. Codes of 6 bits go by pairs. */
function byteTable(width: BitWidth, patterns: Uint32Array): Uint32Array {
  const together = width === 6 ? 12 : 8
  const perEntry = together / width
  const mask = 2 ** width - 1
  return Uint32Array.from({ length: 2 ** together * perEntry }, (_, i) => {
    const entry = Math.floor(i / perEntry)
    return patterns[(entry >>> ((i % perEntry) * width)) & mask]!
  })
}

/** Decodes what fits the steps of the compiled kernel; returns how many elements those are. */
function lookUp(width: BitWidth, table: Uint32Array, source: Uint8Array, target: Uint32Array): number {
  const module = target.length < minElements ? undefined : numbersModule()
  if (!module) return 0
  const stepBytes = width === 6 ? 12 : 4
  const perStep = (8 * stepBytes) / width
  const steps = Math.floor(target.length / perStep)
  module.table.set(table)
  runSteps(module, source, stepBytes, bytesOf(target), 4 * perStep, steps, (at, targetAt, count) =>
    module.run.codesToF32(width, at, targetAt, stepBytes * count),
  )
  return steps * perStep
}

/** In the table: this value has no code. */
const noCode = 0xffff

/**
 * Encodes f32 patterns to codes of one byte each; returns the index of the first value without a code, or -1. `codeOf` gives the code of a
 * pattern. These types round within the upper half of an f32, so the lower half only matters as a sticky bit: the upper half, its last bit
 * set if any lower bit is, is the index into a table of 65536 codes.
 */
export function f32ToCodes(
  codeOf: (pattern: number) => number | undefined,
): (patterns: Uint32Array, codes: Uint8Array) => number {
  let table: Uint16Array | undefined
  return (patterns, codes) => {
    table ??= Uint16Array.from({ length: 65536 }, (_, upper) => codeOf((upper << 16) >>> 0) ?? noCode)
    for (let i = encodeCompiled(table, patterns, codes); i < patterns.length; i++) {
      const pattern = patterns[i]!
      const code = table[(pattern >>> 16) | ((pattern & 0xffff) === 0 ? 0 : 1)]!
      if (code === noCode) return i
      codes[i] = code
    }
    return -1
  }
}

/** The code table that the module holds. */
let loadedTable: Uint16Array | undefined

/** Returns how many values were encoded. Stops before a value without a code, but not always close to it. */
function encodeCompiled(table: Uint16Array, source: Uint32Array, target: Uint8Array): number {
  const module = source.length < minElements ? undefined : numbersModule()
  if (!module) return 0
  if (loadedTable !== table) module.codeTable.set(table)
  loadedTable = table
  const maxSteps = Math.floor(tileSize / 16)
  const steps = Math.floor(source.length / 4)
  const bytes = bytesOf(source)
  for (let done = 0; done < steps; done += maxSteps) {
    const count = Math.min(maxSteps, steps - done)
    let all = 0
    const [part, targetPart] = [bytes.subarray(done * 16, (done + count) * 16), target.subarray(done * 4)]
    runSteps(module, part, 16, targetPart, 4, count, (at, targetAt, length) => {
      all |= module.run.f32ToCodes(at, targetAt, 4 * length)
    })
    if (all > 0xff) return done * 4
  }
  return steps * 4
}
