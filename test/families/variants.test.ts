// Architectures beyond the golden cases: from a directory to GGUF, back, and to GGUF again.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MemorySource, openInput, openModel, readPayload } from '../../src/kit-node.js'
import { convertToFiles } from '../support/convert.js'
import { convertDirectory } from './golden-cases.js'
import { tinyTensors, writeTinyModel } from './tiny-model.js'
import { tokenizerFiles, variants } from './variants/index.js'

/** SHA-256 of what llama.cpp's converter (b21e4de) made of the same directories, with the name of the pre-tokenizer given to it. */
const madeByLlamaCpp: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'variants', 'llama-cpp.json'), 'utf8'),
)

const scratch = mkdtempSync(join(tmpdir(), 'tare-variants-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

async function contents(path: string): Promise<Map<string, string>> {
  const { tensors } = await openModel(await openInput(path))
  const all = new Map<string, string>()
  for (const { name, shape, dtype, data } of tensors)
    all.set(name, `${dtype.id} ${shape} ${Buffer.from(await readPayload(data!)).toString('hex')}`)
  return all
}

describe('a model of another architecture, to GGUF and back', () => {
  it.each(Object.entries(variants))('%s', async (name, { config, shapes, tokenizer, back: others, isOneWay }) => {
    const source = await writeTinyModel(join(scratch, name, 'source'), {
      config,
      shapes,
      files: tokenizerFiles[tokenizer]!,
    })
    const gguf = await convertDirectory(source, 'f32')
    const theirs = madeByLlamaCpp[name]
    if (theirs !== undefined) expect(createHash('sha256').update(gguf).digest('hex')).toBe(theirs)
    if (isOneWay) {
      expect(theirs).toBeDefined()
      return
    }
    const model = await openModel(new MemorySource(gguf, 'model.gguf'))
    const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', folder: true })
    const back = join(scratch, name, 'Back-7B-Chat')
    for (const [file, bytes] of files) {
      mkdirSync(dirname(join(back, file)), { recursive: true })
      writeFileSync(join(back, file), bytes)
    }
    const stated = JSON.parse(new TextDecoder().decode(files.get('config.json')))
    expect([stated.architectures, stated.model_type]).toEqual(
      others ? [[others[0]], others[1]] : [config.architectures, config.model_type],
    )
    expect(await convertDirectory(back, 'f32')).toEqual(gguf)
    // Norms that had one added to them, and rows that stand for padding, are the same numbers again.
    // A logarithm is one of those that lead to the same number.
    const isSame =
      !/^(RoBERTa|XLM-RoBERTa|Mamba|Mamba 2|Jamba|Bamba|Granite 4.*|Falcon-H1|Qwen3-Next|Qwen3.5.*|Gemma 3n|K-EXAONE|Nemotron-H|Nemotron 3.*)$/.test(
        name,
      )
    if (isSame && !others) expect(await contents(back)).toEqual(await contents(source))
    expect(tinyTensors(shapes).length).toBe((await contents(back)).size)
  })

  it('keeps numbers that JSON does not have, as Python writes them', async () => {
    const { config, shapes, tokenizer } = variants.Arcee!
    const generation = '{"top_k": NaN, "top_p": Infinity, "min_p": -Infinity, "temperature": NaN, "note": "NaN"}'
    const source = await writeTinyModel(join(scratch, 'numbers'), {
      config,
      shapes,
      files: { ...tokenizerFiles[tokenizer], 'generation_config.json': generation },
    })
    const gguf = await convertDirectory(source, 'f32')
    const { metadata } = await openModel(new MemorySource(gguf, 'model.gguf'))
    const sampling = [...metadata].filter(([key]) => key.startsWith('general.sampling.'))
    expect(sampling.map(([key, entry]) => [key.split('.').at(-1), 'value' in entry && entry.value])).toEqual([
      ['top_p', Infinity],
      ['min_p', -Infinity],
      ['temp', Number.NaN],
    ])
  })

  it('states a setting that follows from the tensors', async () => {
    const { config, shapes, tokenizer } = variants['Command R 7B']!
    const norms = [0, 1].flatMap((n) =>
      ['q_norm', 'k_norm'].map((name) => [`model.layers.${n}.self_attn.${name}.weight`, [4]] as const),
    )
    const source = await writeTinyModel(join(scratch, 'head-norms'), {
      config: { ...config, architectures: ['CohereForCausalLM'], model_type: 'cohere' },
      shapes: { ...shapes, ...Object.fromEntries(norms) },
      files: tokenizerFiles[tokenizer]!,
    })
    const model = await openModel(new MemorySource(await convertDirectory(source, 'f32'), 'model.gguf'))
    const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', folder: true })
    const stated = JSON.parse(new TextDecoder().decode(files.get('config.json')))
    expect(stated.use_qk_norm).toBe(true)
  })

  it('puts a prefix in front of names that lack it, and of no others', async () => {
    const { config, shapes, tokenizer } = variants.Arcee!
    const bare = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [name.replace(/^model\./, ''), shape]),
    )
    const namesOf = async (given: typeof shapes, folder: string): Promise<string[]> => {
      const source = await writeTinyModel(join(scratch, folder), {
        config: { ...config, architectures: ['LlamaBidirectionalModel'], model_type: 'llama_bidirec' },
        shapes: { ...given, ...gates(given) },
        files: tokenizerFiles[tokenizer]!,
      })
      const { tensors } = await openModel(new MemorySource(await convertDirectory(source, 'f32'), 'model.gguf'))
      return tensors.map(({ name }) => name).sort()
    }
    const gates = (given: typeof shapes): typeof shapes =>
      Object.fromEntries(
        Object.entries(given).flatMap(([name, shape]) =>
          name.includes('up_proj') ? [[name.replace('up_proj', 'gate_proj'), shape]] : [],
        ),
      )
    const names = await namesOf(shapes, 'with-prefix')
    expect(names).toContain('output.weight')
    expect(await namesOf(bare, 'without-prefix')).toEqual(names)
  })

  it('takes the names of models with two norms where there are two', async () => {
    const { config, shapes, tokenizer } = variants.Falcon!
    const twoNorms = Object.fromEntries(
      Object.entries(shapes).flatMap(([name, shape]) =>
        name.includes('input_layernorm')
          ? ['ln_attn', 'ln_mlp'].map((each) => [name.replace('input_layernorm', each), shape])
          : [[name, shape]],
      ),
    )
    const source = await writeTinyModel(join(scratch, 'two-norms'), {
      config,
      shapes: twoNorms,
      files: tokenizerFiles[tokenizer]!,
    })
    const model = await openModel(new MemorySource(await convertDirectory(source, 'f32'), 'model.gguf'))
    const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', folder: true })
    const again = await openModel(new MemorySource(files.get('model.safetensors')!, 'model.safetensors'))
    expect(again.tensors.map(({ name }) => name).toSorted()).toEqual(Object.keys(twoNorms).toSorted())
    const stated = JSON.parse(new TextDecoder().decode(files.get('config.json')))
    expect(stated).toMatchObject({ new_decoder_architecture: true, num_ln_in_parallel_attn: 2 })
  })
})
