// Vectors that the reference library computes, and vectors of the model as BERT defines it.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Vocabulary } from '../../src/content/vocabulary.js'
import { createEmbedder, type Embedder, openModel } from '../../src/kit.js'
import { nodeOnnxEngine } from '../../src/node/onnx-engine.js'
import { fixtureSource } from '../support/fixtures.js'
import { bertVocabulary, vocabularyOfTokens } from '../tokenize/vocabularies.js'
import { fullModel, golden, largestDifference, ruleValues } from './full-model.js'

const tolerance = 5e-6
const engine = await nodeOnnxEngine({ threads: 1 })
const anyVocabulary: Vocabulary = { ...vocabularyOfTokens(), special: { pad: 0, unk: 100, cls: 101, sep: 102 } }

it.each(golden.weights_rule.tensor_checks)(
  'the rule gives $name',
  ({ name, stored_shape, sha256_stored_float32le }) => {
    const values = ruleValues(
      name,
      stored_shape.reduce((product, size) => product * size, 1),
    )
    expect(createHash('sha256').update(new Uint8Array(values.buffer)).digest('hex')).toBe(sha256_stored_float32le)
  },
)

describe('the full model', () => {
  const model = fullModel()
  const vocabulary = bertVocabulary ?? anyVocabulary
  const embedders: Embedder[] = []
  let reference: Embedder
  let original: Embedder
  beforeAll(async () => {
    reference = await createEmbedder(model, { engine, profile: 'reference', vocabulary })
    original = await createEmbedder(model, { engine, vocabulary })
    embedders.push(reference, original)
  })
  afterAll(() => Promise.all(embedders.map((each) => each.close())))

  it.each(golden.sentences)('reference: $id', async ({ token_ids: ids, vector, normalize }) => {
    const [found] = await reference.embedIds([ids], { normalize })
    expect(largestDifference(found!, vector)).toBeLessThan(normalize ? tolerance : 1e-4)
  })

  it.each(golden.original_model_profile.cases)('original: $id', async ({ token_ids: ids, vector }) => {
    const [found] = await original.embedIds([ids])
    expect(largestDifference(found!, vector)).toBeLessThan(tolerance)
    const [, beside] = await original.embedIds([golden.sentences[1]!.token_ids, ids])
    expect(largestDifference(beside!, vector)).toBeLessThan(tolerance)
  })

  it('keeps the profiles apart', async () => {
    const [padded, bare] = [golden.sentences[0]!.token_ids, golden.original_model_profile.cases[0]!.token_ids]
    const [[a], [b], [c]] = [
      await reference.embedIds([padded]),
      await reference.embedIds([bare]),
      await original.embedIds([bare]),
    ]
    expect(largestDifference(a!, c!)).toBeGreaterThan(0.01)
    expect(largestDifference(b!, c!)).toBeGreaterThan(tolerance) // without padding, GELU and epsilon still differ
  })

  it.skipIf(!bertVocabulary)('goes from text to vector', async () => {
    const { text, vector } = golden.sentences[0]!
    const [found] = await original.embed([text])
    expect(largestDifference(found!.vector, golden.original_model_profile.cases[0]!.vector)).toBeLessThan(tolerance)
    const short = await createEmbedder(model, { engine, profile: 'reference', vocabulary, maxLength: 32 })
    embedders.push(short)
    const [padded] = await short.embed([text])
    expect(largestDifference(padded!.vector, vector)).toBeLessThan(tolerance)
    expect(padded).toMatchObject({ tokens: 4, cut: 0 })
  })
})

describe.each(golden.tiny_models)('$file', ({ file, num_attention_heads: heads, tolerance_max_abs: most, cases }) => {
  it.each(cases)('reference: $text', async ({ text, max_seq_length: maxLength, token_ids, vector, raw_mean }) => {
    const model = await openModel(fixtureSource('embd', file))
    const embedder = await createEmbedder(model, { engine, profile: 'reference', heads, maxLength })
    expect(embedder.tokenizer.encode(text).ids).toEqual(token_ids)
    const [scaled] = await embedder.embed([text])
    const [raw] = await embedder.embed([text], { normalize: false })
    expect(largestDifference(scaled!.vector, vector)).toBeLessThan(most)
    expect(largestDifference(raw!.vector, raw_mean)).toBeLessThan(most)
    await embedder.close()
  })
})
