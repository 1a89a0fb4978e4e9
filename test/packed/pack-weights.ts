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
