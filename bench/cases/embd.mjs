// Files of an encoder of the shape of all-MiniLM-L6-v2, 90 MB: all checksums, and its tokenizer. Embeddings have a case of their own.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  createTokenizer,
  openOutput,
  parseVocabularyText,
  planConversion,
  runConversion,
  vocabularyFromText,
} from '../../dist/node.js'
import { encoderModel } from '../encoder.mjs'
import { cli, isolated, race, row, run, scratch } from '../harness.mjs'

export default async function embd({ quick }) {
  const folder = scratch()
  const path = join(folder, 'model.weights')
  const vocabulary = new TextEncoder().encode(vocabularyLines().join('\n'))
  const { part } = parseVocabularyText(vocabulary)
  const conversion = await planConversion({ ...encoderModel(), parts: [part] }, 'embd', { name: path })
  await runConversion(conversion, () => openOutput(path))
  const bytes = conversion.plan.size
  const inside = isolated('embd-work.mjs', [path])
  const script = `const{readFileSync}=require('fs');require('zlib').crc32(readFileSync(${JSON.stringify(path)}))`
  const command = await race(
    () => run(process.execPath, [cli, 'verify', '--quiet', path]),
    () => run(process.execPath, ['-e', script]),
    quick ? 3 : 8,
  )
  rmSync(folder, { recursive: true, force: true })
  return [
    row('verify 90 MB, all checksums', inside, { against: 'zlib.crc32', goal: 0.6, bytes, memory: inside.memory }),
    row('the same as a command', command, { against: 'node, reading and zlib.crc32', bytes }),
    await tokenizeRow(vocabulary, quick),
  ]
}

/** As many tokens as the usual vocabulary has: the special ones, letters, and made-up syllables, half of them as continuations. */
function vocabularyLines() {
  const lines = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', ...'abcdefghijklmnopqrstuvwxyz.,'].flatMap((token) =>
    token.length === 1 ? [token, `##${token}`] : [token],
  )
  for (let i = 0; lines.length < 30_522; i++) {
    const word = [...i.toString(20)].map((digit) => 'abcdefghijklmnopqrst'[Number.parseInt(digit, 20)]).join('')
    if (word.length > 1) lines.push(i % 2 === 0 ? word : `##${word}`)
  }
  return lines
}

/** The least that any tokenizer does: normalise, take accents away, split. */
async function tokenizeRow(bytes, quick) {
  const { vocabulary } = vocabularyFromText(bytes, 'bench')
  const tokenizer = createTokenizer(vocabulary, { profile: 'bert', maxLength: 512 })
  const text =
    'The café by the Łódź river, naïve and unaffable, sells 12 croissants; dogs bark (sometimes) at night. '.repeat(3)
  const count = quick ? 1000 : 5000
  const times = await race(
    () => {
      for (let i = 0; i < count; i++) tokenizer.encode(text)
    },
    () => {
      let words = 0
      for (let i = 0; i < count; i++)
        words += text
          .toLowerCase()
          .normalize('NFD')
          .replace(/\p{Mn}/gu, '')
          .split(/\s+|(\p{P})/u).length
      return words
    },
  )
  const rate = Math.round(count / times.tare)
  return row(`tokenize texts of 54 words (${rate} texts/s)`, times, { against: 'normalise and split' })
}
