// The engine that OINF was made for takes less than the format allows. Such files are sound; a note says what to expect.
import type { Report } from '../../errors/index.js'
import type { MetaValue } from '../../model/index.js'
import { codes } from './codes.js'
import type { Header } from './header.js'
import { pathOfValue } from './tables/records.js'
import type { Tables } from './tables/tables.js'

const noTensors = new Set(['i2', 'i1', 'u2', 'u1', 't2', 't1', 'bitset'])
const noArrays = new Set(['u2', 'u1', 't2', 't1'])

export function noteEngineLimits(
  { version, tables }: Header,
  { firsts, metadata }: Tables,
  values: ReadonlyMap<string, MetaValue>,
  report: Report,
): void {
  const note = (offset: number, path: string, message: string): void =>
    report.report(codes['engine-limits'], { offset, path, message })
  const noteFirst = (isRefused: (value: MetaValue) => boolean, message: string): void => {
    const record = metadata.find(({ key }) => values.has(key) && isRefused(values.get(key)!))
    if (record) note(record.value.start, pathOfValue(record.value), message)
  }
  const small = version === 2 && [...firsts].find(([dtype]) => noTensors.has(dtype.id))
  if (small) {
    const [dtype, index] = small
    const message = `the engine of version 2 refuses files with tensors of ${dtype.id}`
    note(tables.tensors.offset, `tensors[${index}].dtype`, message)
  }
  noteFirst(
    (value) => value.type === 'bitset' && (version === 2 || value.bits > 8),
    `the engine of version ${version} cannot load this bitset`,
  )
  noteFirst(
    (value) => value.type === 'ndarray' && value.value.byteLength % 8 !== 0,
    'the engine takes the padding of an array for data and cannot load this one',
  )
  noteFirst(
    (value) => version === 2 && value.type === 'ndarray' && noArrays.has(value.dtype.id),
    'the engine of version 2 refuses files with arrays of two bits or fewer, but for i2 and i1',
  )
}
