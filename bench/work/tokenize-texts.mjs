// Tokenizes texts with a vocabulary of typical size, against the minimum that any tokenizer does: normalise, strip accents, split.
import { createTokenizer, vocabularyFromText } from '../../dist/kit-node.js'
import { vocabularyText } from '../builders/encoder.mjs'
import { answer, race } from '../harness/measure.mjs'

const count = Number(process.argv[2])
const { vocabulary } = vocabularyFromText(vocabularyText(), 'bench')
const tokenizer = createTokenizer(vocabulary, { profile: 'bert', maxLength: 512 })
const sentence =
  'The café by the Łódź river, naïve and unaffable, sells 12 croissants; dogs bark (sometimes) at night. '
const text = sentence.repeat(3)

const tokenize = () => {
  for (let i = 0; i < count; i++) tokenizer.encode(text)
}
const split = () => {
  let words = 0
  for (let i = 0; i < count; i++) {
    const plain = text
      .toLowerCase()
      .normalize('NFD')
      .replace(/\p{Mn}/gu, '')
    words += plain.split(/\s+|(\p{P})/u).length
  }
  return words
}
answer(await race(tokenize, split))
