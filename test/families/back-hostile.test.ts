// Every key of a file with values that nobody expects there: the way back works or refuses, and never stumbles.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  listOf,
  MemorySource,
  type MetaValue,
  type Model,
  openModel,
  planConversion,
  TareError,
  text,
} from '../../src/kit-node.js'
import { convertDirectory } from './golden-cases.js'
import { writeTinyModel } from './tiny-model.js'
import { tokenizerFiles, variants } from './variants/index.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-back-hostile-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const u32 = (value: number): MetaValue => ({ type: 'u32', value })
const oddValues: Readonly<Record<string, MetaValue | undefined>> = {
  'not there': undefined,
  zero: u32(0),
  'the largest number': u32(0xffff_ffff),
  'a huge number': { type: 'u64', value: 2n ** 63n },
  'a negative number': { type: 'i32', value: -1 },
  'not a number': { type: 'f32', value: Number.NaN },
  'a text': text('__proto__'),
  'bytes that are not text': { type: 'str', value: '\ufffd', bytes: Uint8Array.of(255) },
  true: { type: 'bool', value: true },
  'an empty list': listOf('str', []),
  'a list of numbers': listOf('i32', [{ type: 'i32', value: -7 }]),
  'a list of more numbers than a call has room for': listOf(
    'i32',
    Array.from({ length: 200_000 }, () => ({ type: 'i32', value: 1 })),
  ),
  'a list of texts': listOf('str', [text('a'), text('a')]),
}

async function modelOf(name: string): Promise<Model> {
  const { config, shapes, tokenizer } = variants[name]!
  const files = tokenizerFiles[tokenizer]!
  const path = await writeTinyModel(join(scratch, name), { config, shapes, files })
  return openModel(new MemorySource(await convertDirectory(path, 'f32'), 'model.gguf'))
}

/** What became of it: nothing, or the code of the finding; anything else that is thrown is a mistake of ours. */
async function outcome(model: Model): Promise<string> {
  try {
    await planConversion(model, 'safetensors', { name: 'model.safetensors', folder: true })
    return 'fine'
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    expect(error.finding.message).not.toBe('')
    return error.code
  }
}

describe.each(['Llama with YaRN', 'DeepSeek V3', 'Nomic BERT', 'Phi 4', 'LFM2', 'Granite 4'])('%s', (name) => {
  it.each(Object.entries(oddValues))('with a key that is %s', { timeout: 60_000 }, async (_, value) => {
    const model = await modelOf(name)
    const codes = new Set<string>()
    for (const key of model.metadata.keys()) {
      const metadata = new Map(model.metadata)
      if (value) metadata.set(key, value)
      else metadata.delete(key)
      codes.add(await outcome({ ...model, metadata }))
    }
    for (const code of codes) expect(code).toMatch(/^(fine|family\/[a-z-]+)$/)
  })
})
