// The way to GGUF and back through the command.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { tinyConfig, writeTinyModel } from './tiny-model.js'

const at = useTempDir()

async function tinyGguf(): Promise<string> {
  const source = await writeTinyModel(at('Tiny-Llama-Chat'))
  expect((await tare('convert', source, '-o', at('model.gguf'), '--cast', 'f32')).status).toBe(0)
  return at('model.gguf')
}

test('a GGUF file becomes a directory, and the directory the same file', async () => {
  const gguf = await tinyGguf()
  const ran = await tare('convert', gguf, '-o', at('back/'))
  expect([ran.status, ran.stderr]).toEqual([0, expect.stringContaining('rename 21 tensors')])
  expect((await tare('verify', at('back'))).status).toBe(0)
  expect((await tare('convert', at('back'), '-o', at('again.gguf'), '--cast', 'f32')).status).toBe(0)
  expect(readFileSync(at('again.gguf')).equals(readFileSync(gguf))).toBe(true)
})

test('only models that are translated have the few types of the converter', async () => {
  const source = await writeTinyModel(at('Tiny-Llama-Chat'))
  const refused = await tare('convert', source, '-o', at('model.gguf'), '--cast', 'f64')
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('--quantize f64')])
  const plain = join(import.meta.dirname, '../../examples/tiny-mlp.safetensors')
  expect((await tare('convert', plain, '-o', at('plain.gguf'), '--cast', 'f64')).status).toBe(0)
  const mistyped = await tare('convert', plain, '-o', at('plain.gguf'), '--cast', 'f17')
  expect([mistyped.status, mistyped.stderr]).toEqual([2, expect.stringContaining('did you mean f16')])
})

test('a pooling of embeddings is stated in a folder below', async () => {
  const modules = [{ idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' }]
  const source = await writeTinyModel(at('Tiny-Embedder'), {
    config: {
      ...tinyConfig,
      architectures: ['Qwen2ForCausalLM'],
      model_type: 'qwen2',
    },
    files: { 'modules.json': JSON.stringify(modules) },
  })
  mkdirSync(join(source, '1_Pooling'))
  writeFileSync(join(source, '1_Pooling', 'config.json'), JSON.stringify({ pooling_mode_lasttoken: true }))
  expect(await tare('convert', source, '-o', at('model.gguf'), '--cast', 'f16')).toMatchObject({ status: 0 })
  expect(await tare('convert', at('model.gguf'), '-o', at('back/'))).toMatchObject({ status: 0 })
  const pooling = JSON.parse(readFileSync(at('back', '1_Pooling', 'config.json'), 'utf8'))
  expect(pooling).toMatchObject({ pooling_mode_lasttoken: true, pooling_mode_cls_token: false })
  expect((await tare('convert', at('back'), '-o', at('again.gguf'), '--cast', 'f16')).status).toBe(0)
  expect(readFileSync(at('again.gguf')).equals(readFileSync(at('model.gguf')))).toBe(true)
})

test.each([
  [{}, 'tokenizer.json, tokenizer.model or vocab.json with merges.txt was expected'],
  [{ architectures: ['GemmaForCausalLM'], model_type: 'gemma' }, 'tokenizer.model was expected'],
  [
    { architectures: ['StableLmForCausalLM'], model_type: 'stablelm' },
    'tokenizer.json or vocab.json with merges.txt was',
  ],
])('without a tokenizer the files are named that would do, with %j', async (change, words) => {
  const files = { 'tokenizer.model': null }
  const source = await writeTinyModel(at('Tiny-Chat'), { config: { ...tinyConfig, ...change }, files })
  const refused = await tare('convert', source, '-o', at('model.gguf'))
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(words)])
  expect(refused.stderr).toContain('--as-is copies the tensors under their own names')
  expect(existsSync(at('model.gguf'))).toBe(false)
  expect(await tare('convert', source, '-o', at('model.gguf'), '--as-is')).toMatchObject({ status: 0 })
})

test('a file that cannot be translated leaves nothing behind, and --as-is copies it', async () => {
  const gguf = await tinyGguf()
  expect((await tare('edit', gguf, '--set', 'general.architecture=other')).status).toBe(0)
  const refused = await tare('convert', gguf, '-o', at('back/'))
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/general\.architecture: "other" is unknown; known are llama, .*--as-is/)
  expect(existsSync(at('back'))).toBe(false)
  expect((await tare('convert', gguf, '-o', at('back/'), '--as-is')).status).toBe(0)
  expect(readdirSync(at('back'))).toEqual(['model.safetensors'])
})
