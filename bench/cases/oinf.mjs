import { fillNormal } from '../builders/normal.mjs'
import { writeSample } from '../builders/sample.mjs'
import { isolated, MiB, remove, size as sizeText, tare, tareBest } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Statistics'
export const about =
  'statistics with median and histogram, against memcpy; stats, show and verify of 256 MiB of OINF, against 1 GB/s'

const wanted = 1e9

export default async function* oinf({ file, pick, rounds }) {
  const { bytes: inMemory, ...kernels } = isolated('kernels/stats.mjs', ['kernels', pick(1 << 24, 1 << 22)])
  yield row('statistics of f32 in memory', kernels, { against: 'memcpy', goal: 0.3, bytes: inMemory })

  const [from, path] = [file('from.safetensors'), file('sample.oinf')]
  const fill = (data, i) => fillNormal(data, i + 1, 0.02)
  const bytes = writeSample(from, pick(256 * MiB, 32 * MiB), { fill })
  await tare(['convert', from, '-o', path])
  remove(from)
  const { bytes: inFile, ...whole } = isolated('kernels/stats.mjs', ['file', path])
  const size = sizeText(bytes)
  yield row(`statistics of ${size} of OINF, once it runs`, whole, { against: 'memcpy', bytes: inFile })
  for (const verb of ['verify', 'stats', 'show']) {
    const { seconds, memory } = await tareBest([verb, path], rounds + 2)
    const times = { tare: seconds, yardstick: bytes / wanted, memory }
    const goal = { text: '≥ 1 GB/s', met: bytes / seconds >= wanted }
    yield row(`tare ${verb}, ${size} of OINF`, times, { against: '1 GB/s', goal, bytes })
  }
}
