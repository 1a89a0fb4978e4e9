// The engine that OINF was made for takes less than the format allows. Such files are sound; a note says what to expect.
import type { Report } from '../../errors/index.js'
import type { MetaValue } from '../../model/index.js'
import { codes } from './codes.js'
import type { Header } from './header.js'
import type { Tables } from './tables/tables.js'

const noTensors = new Set(['i2', 'i1', 'u2', 'u1', 't2', 't1', 'bitset'])
const noArrays = new Set(['u2', 'u1', 't2', 't1'])

export function noteEngineLimits(
  { version, tables }: Header,
  { tensors, metadata }: Tables,
  values: ReadonlyMap<string, MetaValue>,
  report: Report,
): void {
  const note = (offset: number, path: string, message: string): void =>
    report.report(codes['engine-limits'], { offset, path, message })
  const small = version === 2 && [...tensors.firsts].find(([dtype]) => noTensors.has(dtype.id))
  if (small) {
    const [dtype, position] = small
    const message = `the engine of version 2 refuses files with tensors of ${dtype.id}`
    note(tables.tensors.offset, tensors.pathOf(position, 'dtype'), message)
  }
  const find = (test: (value: MetaValue) => boolean) =>
    metadata.find(({ key }) => {
      const value = values.get(key)
      return value !== undefined && test(value)
    })
  const bits = find((value) => value.type === 'bitset' && (version === 2 || value.bits > 8))
  if (bits)
    note(bits.offset, `metadata[${bits.index}].value`, `the engine of version ${version} cannot load this bitset`)
  const odd = find((value) => value.type === 'ndarray' && value.value.byteLength % 8 !== 0)
  if (odd) {
    const message = 'the engine takes the padding of an array for data and cannot load this one'
    note(odd.offset, `metadata[${odd.index}].value`, message)
  }
  const packed = version === 2 && find((value) => value.type === 'ndarray' && noArrays.has(value.dtype.id))
  if (packed) {
    const message = 'the engine of version 2 refuses files with arrays of two bits or fewer, but for i2 and i1'
    note(packed.offset, `metadata[${packed.index}].value`, message)
  }
}
