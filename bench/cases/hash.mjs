import { writeSample } from '../builders/sample.mjs'
import { GiB, isolated, MiB, missing, raceCommand, run, size as sizeText } from '../harness/harness.mjs'
import { row, skipped } from '../harness/rows.mjs'

export const topic = 'Verifying and hashing'
export const about =
  'tare hash against b3sum and sha256sum; the portable digests against hash-wasm, native packages and zlib'

const commands = [
  { algorithm: 'blake3', threads: 1, yardstick: ['b3sum', '--num-threads', '1'] },
  { algorithm: 'blake3', threads: 2, yardstick: ['b3sum', '--num-threads', '2'] },
  { algorithm: 'sha256', threads: 1, yardstick: ['sha256sum'] },
  { algorithm: 'crc32', threads: 1, yardstick: ['crc32'] },
]

export default async function* hash({ file, pick, rounds }) {
  const from = file('from.safetensors')
  const bytes = writeSample(from, pick(2 * GiB, 128 * MiB))
  for (const { algorithm, threads, yardstick } of commands) {
    const work = `hash ${sizeText(bytes)}, ${algorithm}, ${threads} thread${threads > 1 ? 's' : ''}`
    const against = yardstick.join(' ')
    const reason = missing(yardstick[0])
    if (reason) yield skipped(work, against, reason)
    else {
      const args = ['hash', '--threads', threads, '--algorithm', algorithm, from]
      const times = await raceCommand(args, () => run(yardstick[0], [...yardstick.slice(1), from]), { rounds })
      yield row(work, times, { against, bytes })
    }
  }
  for (const kernel of ['blake3', 'crc32', 'sha256']) {
    const { yardsticks, bytes, ...own } = isolated('kernels/digest.mjs', [kernel, pick(1 << 28, 1 << 25)])
    for (const [against, yardstick] of Object.entries(yardsticks)) {
      yield row(`portable ${kernel}, in memory`, { ...own, yardstick }, { against, bytes })
    }
  }
}
