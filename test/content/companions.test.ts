import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import type { ByteSource } from '../../src/bytes/index.js'
import { isCompanion } from '../../src/content/companions.js'
import { type Finding, mapSource, openInput, openModel, verifySource } from '../../src/kit-node.js'
import { readPayload } from '../../src/model/index.js'
import { useTempDir } from '../node/temp-dir.js'
import { fixtureBytes } from '../support/fixtures.js'

const at = useTempDir()

describe('names of files that belong to a model', () => {
  test.each([
    ...['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json'],
    ...['added_tokens.json', 'vocab.json', 'vocab.txt', 'merges.txt', 'tokenizer.model', 'spiece.model'],
    ...['sentencepiece.bpe.model', 'preprocessor_config.json', 'chat_template.jinja', 'chat_template.json'],
    ...[
      'config_sentence_transformers.json',
      'sentence_bert_config.json',
      'modules.json',
      'qwen.tiktoken',
      'source.spm',
    ],
  ])('%s', (name) => expect(isCompanion(name)).toBe(true))

  test.each([
    ...['model.safetensors', 'model.safetensors.index.json', 'pytorch_model.bin', 'optimizer.pt', 'training_args.bin'],
    ...['README.md', 'modeling_llama.py', 'trainer_state.json', 'model.model', 'a/config.json', '../config.json', ''],
  ])('not %j', (name) => expect(isCompanion(name)).toBe(false))
})

const weights = (): Uint8Array => fixtureBytes('mcf', 'inputs/hf-model/model.safetensors')

function writeModel(...folder: string[]): string {
  const path = at(...folder)
  mkdirSync(path, { recursive: true })
  writeFileSync(at(...folder, 'model.safetensors'), weights())
  return path
}

async function readParts(source: ByteSource): Promise<Record<string, string>> {
  const { parts } = await openModel(source)
  const texts: Record<string, string> = {}
  for (const { name, data } of parts) texts[name!] = Buffer.from(await readPayload(data!)).toString('latin1')
  return texts
}

describe('a directory', () => {
  it('brings them byte for byte, as ranges of their files', async () => {
    const path = writeModel('m')
    // Not a valid text, not valid JSON, and of no bytes at all: nothing of it is looked into.
    for (const [name, text] of [
      ['config.json', '\xff{'],
      ['tokenizer.model', '\0\x01'],
      ['vocab.txt', ''],
    ] as const)
      writeFileSync(at('m', name), Buffer.from(text, 'latin1'))
    writeFileSync(at('m', 'README.md'), 'words')
    const source = await openInput(path)
    const model = await openModel(source)
    expect(model.parts.map(({ kind, sharing, name }) => [kind, sharing, name])).toEqual([
      ['file', 'shared', 'config.json'],
      ['file', 'shared', 'tokenizer.model'],
      ['file', 'shared', 'vocab.txt'],
    ])
    expect(model.parts[0]!.data!.origin).toMatchObject({ offset: 0, length: 2 })
    expect(model.files.map((file) => file.name)).toEqual(
      ['model.safetensors', 'config.json', 'tokenizer.model', 'vocab.txt'].map((name) => at('m', name)),
    )
    expect(await readParts(source)).toEqual({ 'config.json': '\xff{', 'tokenizer.model': '\0\x01', 'vocab.txt': '' })
    await source.close()
  })

  it('is mapped and verified with all its files', async () => {
    const path = writeModel('m')
    writeFileSync(at('m', 'config.json'), '{}')
    const { files } = await mapSource(await openInput(path))
    expect(files.map(({ size, extents }) => [size, extents.some(({ kind }) => kind === 'gap')])).toEqual([
      [weights().byteLength, false],
      [2, false],
    ])
    expect((await verifySource(await openInput(path))).verdict).toBe('ok')
  })

  it('does not bring what a link leads to elsewhere, and says so', async () => {
    const path = writeModel('m')
    writeFileSync(at('secret.json'), 'secret')
    symlinkSync(at('secret.json'), at('m', 'config.json'))
    symlinkSync(at('nowhere'), at('m', 'vocab.txt'))
    const findings: Finding[] = []
    const source = await openInput(path)
    const { parts } = await openModel(source, { onFinding: (finding) => findings.push(finding) })
    expect(parts).toEqual([])
    expect(findings.map(({ code, path: name }) => [code, name])).toEqual([
      ['open/file-left-out', 'config.json'],
      ['open/file-left-out', 'vocab.txt'],
    ])
    await source.close()
  })

  it('may be links into one store, as download caches keep models', async () => {
    mkdirSync(at('blobs'))
    mkdirSync(at('snapshots'))
    writeFileSync(at('blobs', 'aa'), weights())
    writeFileSync(at('blobs', 'bb'), '{"model_type":"llama"}')
    symlinkSync('../blobs/aa', at('snapshots', 'model.safetensors'))
    symlinkSync('../blobs/bb', at('snapshots', 'config.json'))
    const source = await openInput(at('snapshots'))
    expect(await readParts(source)).toEqual({ 'config.json': '{"model_type":"llama"}' })
    await source.close()
  })

  it('a single file brings nothing', async () => {
    writeModel('m')
    writeFileSync(at('m', 'config.json'), '{}')
    const source = await openInput(at('m', 'model.safetensors'))
    expect((await openModel(source)).parts).toEqual([])
    await source.close()
  })
})
