// What a model is reaches EMBD: from the metadata of a GGUF file, and from config.json.
import { describe, expect, it } from 'vitest'
import { type MetaValue, type Model, openModel } from '../../../src/kit.js'
import { bytesPayload, dtypeById, openInput } from '../../../src/kit-node.js'
import { writeTinyModel } from '../../families/tiny-model.js'
import { tokenizerFiles, variants } from '../../families/variants/index.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'

const at = useTempDir()

const written = async (model: Model): Promise<Readonly<Record<string, unknown>>> => {
  const { metadata } = await openModel(sourceOf(await convertToFiles(model, 'embd')))
  return Object.fromEntries([...metadata].map(([key, value]) => [key, 'value' in value && value.value]))
}

describe('the required keys of EMBD', () => {
  it('follow from what a GGUF file says', async () => {
    const u32 = (value: number): MetaValue => ({ type: 'u32', value })
    const metadata = new Map<string, MetaValue>([
      ['general.architecture', { type: 'str', value: 'nomic-bert' }],
      ['nomic-bert.block_count', u32(2)],
      ['nomic-bert.embedding_length', u32(8)],
      ['nomic-bert.attention.head_count', u32(4)],
      ['nomic-bert.feed_forward_length', u32(12)],
      ['nomic-bert.context_length', u32(64)],
    ])
    const data = bytesPayload(new Uint8Array(3 * 8 * 4))
    const embedding = { name: 'token_embd.weight', dtype: dtypeById('f32')!, shape: [3, 8], data } as const
    const tensors: Model['tensors'] = [{ ...embedding, order: 'row', role: 'weight' }]
    expect(await written({ format: 'memory', metadata, tensors, parts: [], files: [] })).toMatchObject({
      ...{ embedding_dim: '8', vocab_size: '3', num_layers: '2', num_attention_heads: '4', hidden_size: '8' },
      ...{ intermediate_size: '12', max_position_emb: '64', 'general.architecture': 'nomic-bert' },
    })
  })

  it('follow from config.json, with the type of the model', async () => {
    const { config, shapes, tokenizer } = variants.ModernBERT!
    const folder = await writeTinyModel(at('modern'), { config, shapes, files: tokenizerFiles[tokenizer]! })
    expect(await written(await openModel(await openInput(folder)))).toMatchObject({
      ...{ architecture: 'modernbert', num_layers: '2', hidden_size: '8', intermediate_size: '12' },
      max_position_emb: '64',
    })
  })
})
