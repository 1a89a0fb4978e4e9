// The full-size model of the golden embeddings, made by its rule: both layouts must come out byte for byte as they were published.
import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../../src/bytes/index.js'
import { parseVocabularyText } from '../../../src/content/vocabulary-text.js'
import { fnv1a32 } from '../../../src/digest/hasher.js'
import {
  bytesPayload,
  CountingSink,
  dtypeById,
  formatById,
  MemorySource,
  type Model,
  type Tensor,
  text,
  toHex,
  writeLayout,
} from '../../../src/kit.js'
import { orient } from '../../../src/transforms/orientation.js'
import { checkProfile, wantedTensors } from '../../../src/verify/profile.js'
import { allMiniLmL6V2 } from '../../../src/verify/profiles/index.js'
import { fixturePath } from '../../support/fixtures.js'

const vocabulary = fixturePath('embd', 'bert-uncased.vocab.txt')

/** One generator per tensor, seeded by its name; the values are those of the stream layout, row by row. */
function ruledTensor(name: string, shape: readonly number[]): Tensor {
  const values = new Float32Array(shape.reduce((a, b) => a * b, 1))
  const isNorm = name.includes('LayerNorm.')
  const divisor = name.endsWith('.bias') ? (isNorm ? 16 : 32) : 8
  const base = isNorm && name.endsWith('.weight') ? 1 : 0
  let x = fnv1a32(encodeUtf8(name))
  for (let i = 0; i < values.length; i++) {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0
    values[i] = base + ((x >>> 16) - 32768) / 32768 / divisor
  }
  const data = bytesPayload(new Uint8Array(values.buffer))
  return { name, dtype: dtypeById('f32')!, shape, order: 'row', role: 'weight', data }
}

async function digestOf(model: Model, layout: string): Promise<{ size: number; sha256: string }> {
  const files = await (await formatById('embd')!.load()).layout!(model, { name: 'x', extra: { layout } })
  const [written] = await writeLayout(files, async () => new CountingSink(), { digests: ['sha256'] })
  return { size: written!.size, sha256: toHex(written!.digests.sha256!) }
}

interface Golden {
  readonly stream_file: { readonly bytes: number; readonly sha256: string }
  readonly sectioned_file: { readonly bytes: number; readonly sha256: string }
}

describe.skipIf(!existsSync(vocabulary))('all-MiniLM-L6-v2 at full size', () => {
  let golden: Golden
  let model: Model

  beforeAll(() => {
    golden = JSON.parse(readFileSync(fixturePath('embd', 'embeddings.json'), 'utf8')) as Golden
    const wanted = wantedTensors(allMiniLmL6V2).filter(({ isOptional }) => !isOptional)
    const tensors = wanted.map(({ name, shape, isLinear }) => ruledTensor(name, isLinear ? shape.toReversed() : shape))
    const { part } = parseVocabularyText(new Uint8Array(readFileSync(vocabulary)))
    const source = new MemorySource(new Uint8Array(0), 'all-MiniLM-L6-v2.bin')
    model = { format: 'memory', metadata: new Map(), tensors, parts: [part], files: [source] }
  })

  it('comes out as the reference writes it', async () => {
    const { bytes, sha256 } = golden.stream_file
    expect(await digestOf(model, 'stream')).toEqual({ size: bytes, sha256 })
  })

  it('comes out as the document says', async () => {
    const turned = orient(model, 'out-in').model
    const metadata = new Map([['created_at', text('2025-01-16T12:00:00Z')]])
    const { bytes, sha256 } = golden.sectioned_file
    expect(await digestOf({ ...turned, metadata }, 'sectioned')).toEqual({ size: bytes, sha256 })
  })

  it('has the tensors of its profile', () => {
    expect(model.tensors).toHaveLength(101)
    expect(checkProfile(model, allMiniLmL6V2).filter(({ severity }) => severity !== 'note')).toEqual([])
  })
})
