// Architectures beyond the golden cases: from a directory to GGUF, back, and to GGUF again.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MemorySource, openInput, openModel, readPayload } from '../../src/kit-node.js'
import { convertToFiles } from '../support/convert.js'
import { convertDirectory } from './golden-cases.js'
import { type TinyOptions, tinyTensors, writeTinyModel } from './tiny-model.js'
import { type Variant, variants } from './variants.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-variants-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const added = (id: number, content: string) => ({ id, content, special: true, normalized: false })
const letters = ['a', 'b', 'c', 'd', 'ab', 'cd']
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }

/** A tokenizer of a few tokens, which llama.cpp has no name for, and which is therefore given one. */
const tokenizers: Readonly<Record<Variant['tokenizer'], TinyOptions['files']>> = {
  sentencepiece: {},
  bpe: {
    'tokenizer.model': null,
    'gguf.json': JSON.stringify({ set: { 'tokenizer.ggml.pre': ['str', 'gpt-2'] } }),
    'tokenizer_config.json': JSON.stringify({ bos_token: '<s>', eos_token: '</s>', tokenizer_class: 'GPT2Tokenizer' }),
    'tokenizer.json': JSON.stringify({
      added_tokens: [added(1, '<s>'), added(2, '</s>')],
      pre_tokenizer: byteLevel,
      decoder: byteLevel,
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(['!', '', '', ...letters].map((token, id) => [token, id]).filter(([token]) => token)),
        merges: ['a b', 'c d'],
      },
    }),
  },
  wordpiece: {
    'tokenizer.model': null,
    'gguf.json': JSON.stringify({ set: { 'tokenizer.ggml.pre': ['str', 'jina-v2-en'] } }),
    'tokenizer_config.json': JSON.stringify({ do_lower_case: true, tokenizer_class: 'BertTokenizer' }),
    'vocab.txt': ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a', '##b', 'c'].join('\n'),
  },
}

async function contents(path: string): Promise<Map<string, string>> {
  const { tensors } = await openModel(await openInput(path))
  const all = new Map<string, string>()
  for (const { name, shape, dtype, data } of tensors)
    all.set(name, `${dtype.id} ${shape} ${Buffer.from(await readPayload(data!)).toString('hex')}`)
  return all
}

describe('a model of another architecture, to GGUF and back', () => {
  it.each(Object.entries(variants))('%s', async (name, { config, shapes, tokenizer }) => {
    const source = await writeTinyModel(join(scratch, name, 'source'), {
      config,
      shapes,
      files: tokenizers[tokenizer]!,
    })
    const gguf = await convertDirectory(source, 'f32')
    const model = await openModel(new MemorySource(gguf, 'model.gguf'))
    const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', folder: true })
    const back = join(scratch, name, 'Back-7B-Chat')
    for (const [file, bytes] of files) {
      mkdirSync(dirname(join(back, file)), { recursive: true })
      writeFileSync(join(back, file), bytes)
    }
    const stated = JSON.parse(new TextDecoder().decode(files.get('config.json')))
    expect([stated.architectures, stated.model_type]).toEqual([config.architectures, config.model_type])
    expect(await convertDirectory(back, 'f32')).toEqual(gguf)
    // Norms that had one added to them, and rows that stand for padding, are the same numbers again.
    const isSame = name !== 'RoBERTa'
    if (isSame) expect(await contents(back)).toEqual(await contents(source))
    expect(tinyTensors(shapes).length).toBe((await contents(back)).size)
  })
})
