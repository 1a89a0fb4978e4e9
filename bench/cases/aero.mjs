import { writeSample } from '../builders/sample.mjs'
import {
  clearPlace,
  copyAndSync,
  GiB,
  groups,
  isolated,
  isolatedBest,
  MiB,
  missing,
  raceCommand,
  remove,
  run,
  size as sizeText,
  tare,
  tareBest,
} from '../harness/harness.mjs'
import { row, skipped } from '../harness/rows.mjs'

export const topic = 'Verifying and hashing'
export const about =
  'AERO: listing 1,000,000 tensors; converting with all hashes; verifying against b3sum with as many threads'

export default async function* aero(context) {
  yield* listing(context)
  yield* hashing(context)
}

/** The whole command, with its output going to a file, is what a person waits for; opening alone is set against JSON.parse. */
async function* listing({ file, pick, rounds }) {
  const options = { topic: 'Opening and listing' }
  const count = pick(1_000_000, 20_000)
  const many = file('many.aero')
  isolated('work/many-tensors.mjs', ['write', 'aero', count, many])
  const opened = isolatedBest('work/many-tensors.mjs', ['open', many, count], rounds)
  const parsed = isolatedBest('work/many-tensors.mjs', ['json', count], rounds)
  const times = { tare: opened.seconds, yardstick: parsed.seconds, memory: opened.memory }
  const work = `${groups(count)} tensors (AERO)`
  yield row(`open ${work}`, times, { ...options, against: 'JSON.parse', count, items: 'tensors' })
  for (const flags of [[], ['--json']]) {
    const { seconds, memory } = await tareBest(['inspect', ...flags, many], rounds, { output: file('out.txt') })
    const name = ['inspect', ...flags].join(' ')
    const goal = { text: '≤ 3 s and 1 GB', met: seconds <= 3 && memory <= 1e9 }
    yield row(`tare ${name}, ${work}`, { tare: seconds, memory }, { ...options, goal, count, items: 'tensors' })
  }
  const { seconds, memory } = await tareBest(['verify', many], rounds)
  yield row(`tare verify, ${work}`, { tare: seconds, memory }, { ...options, count, items: 'tensors' })
  remove(many, file('out.txt'))
}

// b3sum hashes each byte once. With a hash of every tensor besides that of the shard each byte is hashed twice, with pages three times; then
// b3sum is also given the file as often.
const kinds = [
  { name: 'one hash per byte', options: ['--tensor-hashes', 'off'] },
  { name: 'one hash per byte, 8 shards', options: ['--tensor-hashes', 'off', '--shard-size', '256MiB'] },
  { name: 'tensor hashes', options: [], isConverted: true, hashes: 2 },
  { name: 'all hashes', options: ['--page-hashes', '--control-hash'], isConverted: true, hashes: 3 },
]

async function* hashing({ file, pick, rounds }) {
  const [from, to] = [file('from.safetensors'), file('to.aero')]
  const bytes = writeSample(from, pick(2 * GiB, 128 * MiB))
  const [size, reason] = [sizeText(bytes), missing('b3sum')]
  const options = { rounds, before: () => clearPlace(to, bytes) }
  for (const { name, options: flags, isConverted, hashes = 1 } of pick(kinds, kinds.slice(2))) {
    const convert = ['convert', from, '-o', to, ...flags]
    if (isConverted) {
      const times = await raceCommand(convert, () => copyAndSync(from, to), options)
      const goal = name === 'all hashes' ? 0.5 : undefined
      yield row(`convert ${size} to AERO, ${name}`, times, {
        topic: 'Converting',
        against: 'cp + sync',
        goal,
        bytes,
        limit: 250e6,
      })
    } else await tare(convert)
    // Starting Node and loading the command is a part of the whole, which a larger file would not notice.
    const running = reason ? undefined : isolated('work/with-threads.mjs', ['verify', to])
    for (const threads of [1, 2]) {
      const work = `verify ${size} of AERO, ${name}, ${threads} thread${threads > 1 ? 's' : ''}`
      const against = `b3sum --num-threads ${threads}`
      if (reason) {
        yield skipped(work, against, reason)
        continue
      }
      const seconds = threads === 1 ? running.yardstick : running.tare
      for (const often of hashes === 1 ? [1] : [1, hashes]) {
        const digest = () => run('b3sum', ['--num-threads', threads, ...Array(often).fill(to)])
        const times = await raceCommand(['verify', '--threads', threads, to], digest, { rounds })
        const settings = {
          against: often === 1 ? against : `${against}, ${often} times`,
          goal: 0.8,
          bytes,
          limit: 150e6,
        }
        yield row(work, times, settings)
        const inside = { tare: seconds, yardstick: times.yardstick, memory: running.memory }
        yield row(`${work}, once it runs`, inside, settings)
      }
    }
    remove(to)
  }
}
