import { isolated, raceCommand, run } from '../harness/harness.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Embedding'
export const about = 'an encoder of 90 MB in an EMBD file: all checksums against zlib.crc32, tokenizing, embedding'

const wantedRate = 20

export default async function* embd({ file, pick, rounds }) {
  const path = file('model.weights')
  const { bytes } = isolated('work/write-encoder.mjs', [path])
  const checking = { topic: 'Verifying and hashing', bytes }
  const inside = isolated('work/crc-check.mjs', [path])
  yield row('verify 90 MB, all checksums (EMBD)', inside, { ...checking, against: 'zlib.crc32', goal: 0.6 })
  const script = `require('zlib').crc32(require('fs').readFileSync(${JSON.stringify(path)}))`
  const command = await raceCommand(['verify', path], () => run(process.execPath, ['-e', script]), {
    rounds: 2 * rounds,
  })
  yield row('tare verify, 90 MB (EMBD)', command, { ...checking, against: 'node with zlib.crc32' })

  const count = pick(5000, 1000)
  const tokenizing = { against: 'normalise and split', count, items: 'texts' }
  yield row('tokenize texts of 54 words', isolated('work/tokenize-texts.mjs', [count]), tokenizing)
  for (const profile of ['original', 'reference']) {
    const measured = isolated('work/embed-texts.mjs', [path, profile, pick(10, 2)])
    const { tare, count: texts } = measured
    const goal = { text: `≥ ${wantedRate} texts/s`, met: texts / tare >= wantedRate }
    yield row(`embed texts of 32 tokens, ${profile} profile`, measured, { goal, count: texts, items: 'texts' })
  }
}
