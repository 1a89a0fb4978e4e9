// Weights packed in the ways of several libraries, from codes, scales and zero points that tests choose.
import { bytesPayload, dtypeById, type Tensor } from '../../src/kit.js'

type Bytes = Uint8Array | Int32Array | Uint32Array | Float32Array | BigInt64Array

export function tensorOf(name: string, dtype: string, shape: readonly number[], values: Bytes): Tensor {
  const data = bytesPayload(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  return { name, dtype: dtypeById(dtype)!, shape, order: 'row', role: 'weight', data }
}

export interface Codes {
  readonly rows: number
  readonly columns: number
  readonly bits: number
  /** By rows. */
  readonly codes: readonly number[]
  /** [rows, groups] */
  readonly scales: readonly number[]
  readonly zeros: readonly number[]
  readonly groups: number
  /** The group of each column. */
  readonly groupOf: readonly number[]
}

/** Codes on end, from the lowest bit of the first word on. */
export function packBits(codes: readonly number[], bits: number): Uint32Array {
  const words = new Uint32Array(Math.ceil((codes.length * bits) / 32))
  for (const [i, code] of codes.entries())
    for (let bit = 0; bit < bits; bit++)
      if ((code >> bit) & 1) words[Math.floor((i * bits + bit) / 32)]! |= 1 << ((i * bits + bit) % 32)
  return words
}

export function transposed<T extends Uint32Array | Float32Array>(values: T, rows: number, columns: number): T {
  const turned = values.slice() as T
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) turned[c * rows + r] = values[r * columns + c]!
  return turned
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

function packedRows({ rows, columns, bits, codes }: Codes): { readonly words: number; readonly packed: Uint32Array } {
  const packed = range(rows).map((r) => packBits(codes.slice(r * columns, (r + 1) * columns), bits))
  const words = packed[0]!.length
  return { words, packed: Uint32Array.from(packed.flatMap((row) => [...row])) }
}

/** Zero points [groups, rows] packed along rows. */
const packedZeros = ({ rows, groups, zeros, bits }: Codes, less: number): Uint32Array[] =>
  range(groups).map((g) =>
    packBits(
      range(rows).map((r) => zeros[r * groups + g]! - less),
      bits,
    ),
  )

/** Columns and rows must fill words. */
export function gptqTensors(stem: string, weight: Codes, isFirstVersion = true): Tensor[] {
  const { rows, groups, columns } = weight
  const { words, packed } = packedRows(weight)
  const zeros = packedZeros(weight, isFirstVersion ? 1 : 0)
  return [
    tensorOf(`${stem}.qweight`, 'i32', [words, rows], transposed(packed, rows, words)),
    tensorOf(`${stem}.qzeros`, 'i32', [groups, zeros[0]!.length], Uint32Array.from(zeros.flatMap((row) => [...row]))),
    tensorOf(`${stem}.scales`, 'f32', [groups, rows], transposed(Float32Array.from(weight.scales), rows, groups)),
    tensorOf(`${stem}.g_idx`, 'i32', [columns], Int32Array.from(weight.groupOf)),
  ]
}

const awqOrder = [0, 2, 4, 6, 1, 3, 5, 7]

/** Eight rows in a word. */
export function awqTensors(stem: string, weight: Codes): Tensor[] {
  const { rows, columns, groups } = weight
  const packed = (valueAt: (row: number, column: number) => number, width: number): Uint32Array =>
    Uint32Array.from(
      range(width).flatMap((column) =>
        range(rows / 8).flatMap((word) => [
          ...packBits(
            awqOrder.map((k) => valueAt(word * 8 + k, column)),
            4,
          ),
        ]),
      ),
    )
  const codes = packed((r, c) => weight.codes[r * columns + c]!, columns)
  const zeros = packed((r, g) => weight.zeros[r * groups + g]!, groups)
  return [
    tensorOf(`${stem}.qweight`, 'i32', [columns, rows / 8], codes),
    tensorOf(`${stem}.qzeros`, 'i32', [groups, rows / 8], zeros),
    tensorOf(`${stem}.scales`, 'f32', [groups, rows], transposed(Float32Array.from(weight.scales), rows, groups)),
  ]
}

/** Rows in order; rows of zero points and scales have room for `width` groups. */
export function awqGemvTensors(stem: string, weight: Codes, width: number): Tensor[] {
  const { rows, groups } = weight
  const { words, packed } = packedRows(weight)
  const padded = (list: readonly number[], row: number): number[] =>
    range(width).map((g) => (g < groups ? list[row * groups + g]! : 0))
  const zeros = range(rows).flatMap((r) => [...packBits(padded(weight.zeros, r), 4)])
  const scales = range(rows).flatMap((r) => padded(weight.scales, r))
  return [
    tensorOf(`${stem}.qweight`, 'i32', [rows, words], packed),
    tensorOf(`${stem}.qzeros`, 'i32', [rows, width / 8], Uint32Array.from(zeros)),
    tensorOf(`${stem}.scales`, 'f32', [rows, width], Float32Array.from(scales)),
  ]
}

/** Four rows of 64 columns at a time. Of 32 columns the first of each eight comes first, and every other of those. */
export function awqGemvFastTensors(stem: string, weight: Codes, width: number): Tensor[] {
  const { rows, columns, groups, codes } = weight
  const pairs = range(4).flatMap((pair) => range(4).map((eight) => eight * 8 + pair * 2))
  const order = range(4).flatMap((pair) =>
    [0, 1].flatMap((second) => pairs.slice(pair * 4, pair * 4 + 4).map((at) => at + second)),
  )
  const stored = range(rows / 4).flatMap((four) =>
    range(columns / 64).flatMap((block) =>
      range(4).flatMap((r) =>
        range(64).map((c) => codes[(four * 4 + r) * columns + block * 64 + (c & 32) + order[c % 32]!]!),
      ),
    ),
  )
  const across = (value: (at: number) => number): Float32Array =>
    Float32Array.from(range(width * rows), (i) => {
      const [group, row] = [Math.floor(i / rows), i % rows]
      return group < groups ? value(row * groups + group) : 0
    })
  const offset = (at: number): number => -weight.scales[at]! * weight.zeros[at]!
  return [
    tensorOf(`${stem}.qweight`, 'i16', [rows / 4, columns], packBits(stored, 4)),
    tensorOf(
      `${stem}.scales`,
      'f32',
      [width, rows],
      across((at) => weight.scales[at]!),
    ),
    tensorOf(`${stem}.scaled_zeros`, 'f32', [width, rows], across(offset)),
  ]
}

/** Which of 64 × 16 codes a word holds: that of thread `word / 4` for block `word % 4`. Codes are numbered row of B first. */
const marlinOrder: readonly number[] = range(128).flatMap((word) => {
  const [thread, block] = [word >> 2, word & 3]
  const down = [0, 1, 8, 9].map((each) => each + 2 * (thread % 4))
  const inOrder = [0, 8].flatMap((half) => down.map((k) => k * 64 + block * 16 + half + (thread >> 2)))
  return awqOrder.map((each) => inOrder[each]!)
})

/** Zero points are 8. Columns are a multiple of 16, rows of 64. */
export function marlinTensors(names: readonly [codes: string, scales: string], weight: Codes): Tensor[] {
  const { rows, columns, groups, codes } = weight
  const stored = range(columns / 16).flatMap((tile) =>
    range(rows / 64).flatMap((part) =>
      marlinOrder.map((at) => codes[(part * 64 + (at % 64)) * columns + tile * 16 + (at >> 6)]!),
    ),
  )
  const grouped = range(64).map((i) => (i >> 3) + 8 * (i % 8))
  const single = range(64).map((i) => (i & 32) + 2 * ((i & 31) >> 3) + [0, 1, 8, 9, 16, 17, 24, 25][i % 8]!)
  const order = groups === 1 ? single : grouped
  const scales = range(groups).flatMap((g) =>
    range(rows).map((i) => weight.scales[((i & ~63) + order[i % 64]!) * groups + g]!),
  )
  return [
    tensorOf(names[0], 'i32', [columns / 16, rows * 2], packBits(stored, 4)),
    tensorOf(names[1], 'f32', [groups, rows], Float32Array.from(scales)),
  ]
}

/** Rows of any length, padded to words; zero points packed along rows. */
export function compressedTensors(stem: string, weight: Codes): Tensor[] {
  const { rows, columns, groups } = weight
  const { words, packed } = packedRows(weight)
  const zeros = packedZeros(weight, 0)
  const down = zeros[0]!.length
  const zeroWords = transposed(Uint32Array.from(zeros.flatMap((row) => [...row])), groups, down)
  return [
    tensorOf(`${stem}.weight_packed`, 'i32', [rows, words], packed),
    tensorOf(`${stem}.weight_scale`, 'f32', [rows, groups], Float32Array.from(weight.scales)),
    tensorOf(`${stem}.weight_zero_point`, 'i32', [down, groups], zeroWords),
    tensorOf(`${stem}.weight_shape`, 'i64', [2], BigInt64Array.of(BigInt(rows), BigInt(columns))),
  ]
}

/** Zero points are offsets here. */
export function mlxTensors(stem: string, weight: Codes): Tensor[] {
  const { rows, groups } = weight
  const { words, packed } = packedRows(weight)
  return [
    tensorOf(`${stem}.weight`, 'u32', [rows, words], packed),
    tensorOf(`${stem}.scales`, 'f32', [rows, groups], Float32Array.from(weight.scales)),
    tensorOf(`${stem}.biases`, 'f32', [rows, groups], Float32Array.from(weight.zeros)),
  ]
}
