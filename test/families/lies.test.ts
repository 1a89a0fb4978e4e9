// Directories that contradict themselves, through the command: it names the file, the place and what to do, and writes nothing.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { type TinyOptions, tinyConfig, tinyShapes, writeTinyModel } from './tiny-model.js'
import { tinyTokenizer } from './tiny-tokenizer.js'

const at = useTempDir()

const config = (change: object): TinyOptions => ({ config: { ...tinyConfig, ...change } })
const shapes = (change: Record<string, readonly number[]>): TinyOptions => ({ shapes: { ...tinyShapes, ...change } })
const without = (...names: string[]): TinyOptions => ({
  shapes: Object.fromEntries(Object.entries(tinyShapes).filter(([name]) => !names.includes(name))),
})
const tokenizer = (content: string): TinyOptions => ({
  config: { ...tinyConfig, vocab_size: 267 },
  shapes: { ...tinyShapes, 'model.embed_tokens.weight': [267, 8], 'lm_head.weight': [267, 8] },
  files: { 'tokenizer.model': null, 'tokenizer.json': content },
})
const withModel = (change: object): TinyOptions =>
  tokenizer(JSON.stringify({ ...tinyTokenizer, model: { ...tinyTokenizer.model, ...change } }))
const whole = JSON.stringify(tinyTokenizer)

const [weights, settings, tokens] = ['model.safetensors', 'config.json', 'tokenizer.json']
const belongs = 'config.json that belongs to these'
const sameModel = 'config.json and the weights must be of the same model'
const again = 'correct it, or copy the file again'

test.each<[what: string, TinyOptions, file: string, place: string, code: string, advice: string]>([
  // Head counts
  ['other heads', config({ num_attention_heads: 3 }), weights, 'q_proj.weight', 'tensor-shape', sameModel],
  ['more heads', config({ num_attention_heads: 4 }), settings, 'blk.0.attn_k.weight', 'tensor-shape', sameModel],
  ['other key heads', config({ num_key_value_heads: 2 }), settings, 'blk.0.attn_k.weight', 'tensor-shape', sameModel],
  [
    'a text for heads',
    config({ num_attention_heads: 'two' }),
    weights,
    'num_attention_heads',
    'tensor-shape',
    sameModel,
  ],
  ['negative heads', config({ num_attention_heads: -2 }), weights, 'num_attention_heads', 'tensor-shape', sameModel],
  // Layers
  ['more layers', config({ num_hidden_layers: 3 }), settings, 'blk.2.attn_norm.weight', 'tensor-missing', belongs],
  ['fewer layers', config({ num_hidden_layers: 1 }), weights, 'model.layers.1.', 'tensor-unknown', belongs],
  ['no layers', config({ num_hidden_layers: 0 }), weights, 'model.layers.0.', 'tensor-unknown', belongs],
  ['a fraction of layers', config({ num_hidden_layers: 1.5 }), settings, 'num_hidden_layers', 'config-value', again],
  // Tensors that are missing
  ['no embedding', without('model.embed_tokens.weight'), settings, 'token_embd.weight', 'tensor-missing', belongs],
  ['no last norm', without('model.norm.weight'), settings, 'output_norm.weight', 'tensor-missing', belongs],
  [
    'one layer without keys',
    without('model.layers.1.self_attn.k_proj.weight'),
    settings,
    'blk.1.attn_k.weight',
    'tensor-missing',
    belongs,
  ],
  // Tensors too many
  [
    'another name',
    shapes({ 'model.layers.0.extra.weight': [1] }),
    weights,
    'extra.weight',
    'tensor-unknown',
    '--as-is',
  ],
  ['an outer name', shapes({ 'model.extra.weight': [2, 2] }), weights, 'model.extra', 'tensor-unknown', '--as-is'],
  // Shapes
  ['a wide norm', shapes({ 'model.norm.weight': [9] }), settings, 'output_norm.weight', 'tensor-shape', sameModel],
  ['a flat matrix', shapes({ 'lm_head.weight': [64] }), settings, 'output.weight', 'tensor-shape', sameModel],
  [
    'a matrix that is turned',
    shapes({ 'model.layers.0.mlp.up_proj.weight': [8, 12] }),
    settings,
    'blk.0.ffn_up.weight',
    'tensor-shape',
    sameModel,
  ],
  // Tokenizers
  ['an unknown pre-tokenizer', tokenizer(whole), tokens, 'pre_tokenizer', 'pre-tokenizer', '--pre NAME'],
  ['a tokenizer that is cut', tokenizer(whole.slice(0, -9)), tokens, 'tokenizer.json', 'config', again],
  ['a tokenizer that is a list', tokenizer('[]'), tokens, 'tokenizer.json', 'config', again],
  ['a tokenizer without a model', tokenizer('{}'), tokens, 'model', 'tokenizer', again],
  ['tokens without ids', withModel({ vocab: { a: 'b' } }), tokens, 'model.vocab["a"]', 'tokenizer', again],
  ['merges that are none', withModel({ merges: [['a']] }), tokens, 'model.merges[0]', 'tokenizer', again],
  ['an id beyond the vocabulary', withModel({ vocab: { a: 9999 } }), tokens, 'model.vocab', 'tokenizer', again],
])('%s', async (_, options, file, place, code, advice) => {
  const source = await writeTinyModel(at('Tiny-Llama-Chat'), options)
  // Merges are read after the pre-tokenizer is known.
  const pre = code === 'tokenizer' ? ['--pre', 'gpt-2'] : []
  const { status, stderr } = await tare('convert', source, '-o', at('model.gguf'), ...pre)
  expect([status, stderr.includes(`(family/${code})`)], stderr).toEqual([1, true])
  for (const words of [`/${file}`, place, advice, '--as-is']) expect(stderr).toContain(words)
  expect(readdirSync(at('.'))).toEqual(['Tiny-Llama-Chat'])
})
