import { writeModel } from '../builders/primitiv-model.mjs'
import { groups, isolated, remove } from '../harness/harness.mjs'
import { limitRow, row } from '../harness/rows.mjs'

export const topic = 'Opening and listing'
export const about =
  'primitiv, which has no index: listing by walking over the file, and reading all payloads against pread'

export default async function* primitiv({ file, pick }) {
  const path = file('sample.model')
  const many = pick(64, 16)
  const bytes = await writeModel(path, many, [1024, 1024])
  const payloads = isolated('work/primitiv-work.mjs', ['payloads', path])
  yield row(`read all payloads, ${many} × 4 MiB (primitiv)`, payloads, { against: 'pread', goal: 0.5, bytes })
  remove(path)

  const count = pick(65_536, 8192)
  await writeModel(path, count, [1024])
  const list = isolated('work/primitiv-work.mjs', ['list', path])
  const work = `list ${groups(count)} parameters of 4 KiB (primitiv)`
  const options = { max: 0.3, against: 'pread of the file', yardstick: list.yardstick, count, items: 'parameters' }
  yield limitRow(work, list, options)
  remove(path)

  const { size, tensors, read, index, memory } = isolated('work/primitiv-work.mjs', ['virtual', 10e9])
  // The minimum is what lies between the data, which is the index itself; the first 64 KiB are read in any case.
  const times = { tare: read - 65_536, yardstick: index, memory }
  const virtual = `list ${groups(tensors)} parameters of a virtual model of ${Math.round(size / 1e9)} GB`
  yield row(virtual, times, { against: 'keys and shapes alone', unit: 'bytes' })
}
