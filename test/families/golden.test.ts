// Directories that llama.cpp's own converter has converted: the files must be the same, byte for byte. The tokenizers belong to their
// publishers; TARE_TOKENIZER_PACKAGES names a folder in which their packages are installed (see scripts/install-tokenizers.mjs).
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { closeModel, openInput, openModel } from '../../src/kit-node.js'
import { convertToFiles } from '../support/convert.js'
import { besideRoot } from '../support/fixtures.js'

interface Golden {
  readonly name: string
  readonly dir: string
  readonly outputs: readonly { readonly outtype: string; readonly sha256: string }[]
}

const folder = join(besideRoot, 'hf-gguf')
const packages = process.env.TARE_TOKENIZER_PACKAGES ?? ''
const list = join(folder, 'cases.json')
const cases: readonly Golden[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).cases : []
const isReady = packages !== '' && existsSync(join(packages, 'node_modules'))
const scratch = mkdtempSync(join(tmpdir(), 'tare-golden-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function makeDirectory({ name, dir }: Golden): string {
  const make = join(folder, 'make-hf-dir.mjs')
  const args = ['--cases', join(folder, 'case-defs.json'), '--case', name, '--out', scratch, '--packages', packages]
  execFileSync(process.execPath, [make, ...args], { stdio: 'pipe' })
  return join(scratch, name, dir)
}

async function digestOfConverted(path: string, outtype: string): Promise<string> {
  const model = await openModel(await openInput(path))
  const cast = outtype === 'auto' ? undefined : outtype
  try {
    const files = await convertToFiles(model, 'gguf', { name: 'model.gguf', cast })
    return createHash('sha256').update(files.get('model.gguf')!).digest('hex')
  } finally {
    await closeModel(model)
  }
}

describe.skipIf(!isReady || cases.length === 0)('directories that llama.cpp has converted', () => {
  for (const golden of cases) {
    it(golden.name, { timeout: 120_000 }, async () => {
      const path = makeDirectory(golden)
      for (const { outtype, sha256 } of golden.outputs)
        expect(await digestOfConverted(path, outtype), outtype).toBe(sha256)
      rmSync(path, { recursive: true })
    })
  }
})
