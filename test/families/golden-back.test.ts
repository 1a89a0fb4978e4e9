// Files of llama.cpp's converter become directories, and those the same files again, byte for byte.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import { afterAll, describe, expect, it } from 'vitest'
import { probeText } from '../../src/families/tokenizers/pre-tokenizer-names.js'
import { MemorySource, openModel } from '../../src/kit-node.js'
import { convertToFiles } from '../support/convert.js'
import { convertDirectory, type Golden, goldenCases, isReady, makeDirectory } from './golden-cases.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-golden-back-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

async function writeDirectory(gguf: Uint8Array, path: string, isQuantized: boolean): Promise<void> {
  rmSync(path, { recursive: true, force: true })
  const model = await openModel(new MemorySource(gguf, 'model.gguf'))
  const name = 'model.safetensors'
  const files = await convertToFiles(model, 'safetensors', {
    name,
    folder: true,
    dequantize: isQuantized ? ['*'] : undefined,
  })
  for (const [file, bytes] of files) {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), bytes)
  }
}

/** What a tokenizer makes of a text that tells tokenizers apart. */
function idsOf(path: string): readonly number[] {
  const file = (name: string) => JSON.parse(readFileSync(join(path, name), 'utf8'))
  const tokenizer = new Tokenizer(file('tokenizer.json'), file('tokenizer_config.json'))
  return tokenizer.encode(probeText, { add_special_tokens: false }).ids
}

/** Lists of tokens that do not follow from the tokenizer's files: those would have other ids in other programs. */
function carriedTokens(path: string): readonly string[] {
  const file = join(path, 'gguf.json')
  const { set = {} } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  return Object.keys(set).filter((key) => /^tokenizer\.ggml\.(pre|tokens|token_type|scores|merges)$/.test(key))
}

/** Merges that follow from the scores are those of the source, unless the scores are made up, as they are in these cases. */
const hasOwnMerges = ({ name }: Golden, path: string): boolean =>
  existsSync(join(path, 'tokenizer.json')) && !/^(llama2|phi3)/.test(name)

/** Weights that are too large for a scale of this type: it is infinite, and what it multiplies is not a number any more. */
const isOverflown = ({ name }: Golden, outtype: string): boolean => name === 'llama2-spm' && outtype === 'q8_0'

/** One type of each case, not always the same one. TARE_THOROUGH=1 tries all of them. */
const outputsOf = ({ outputs }: Golden, i: number): Golden['outputs'] =>
  process.env.TARE_THOROUGH ? outputs : [outputs[i % outputs.length]!]

describe.skipIf(!isReady)('files that llama.cpp has written', () => {
  for (const [i, golden] of goldenCases.entries()) {
    it(golden.name, { timeout: 600_000 }, async () => {
      const path = makeDirectory(golden, scratch)
      for (const { outtype, sha256 } of outputsOf(golden, i)) {
        const gguf = await convertDirectory(path, outtype)
        // Not the name of the directory that the file was made of.
        const back = join(scratch, 'back', 'Some-3B-Chat')
        await writeDirectory(gguf, back, outtype === 'q8_0')
        if (hasOwnMerges(golden, path)) expect(idsOf(back)).toEqual(idsOf(path))
        expect(carriedTokens(back)).toEqual([])
        if (isOverflown(golden, outtype)) {
          await expect(convertDirectory(back, outtype)).rejects.toThrow('which ggml.q8_0 cannot hold')
          continue
        }
        const again = await convertDirectory(back, outtype)
        expect(createHash('sha256').update(again).digest('hex'), outtype).toBe(sha256)
      }
      rmSync(path, { recursive: true })
    })
  }
})
