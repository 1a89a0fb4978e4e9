// Directories that llama.cpp's own converter has converted, and what it made of them. The tokenizers belong to their publishers;
// TARE_TOKENIZER_PACKAGES names a folder in which their packages are installed (see scripts/install-tokenizers.mjs).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeModel, openInput, openModel } from '../../src/kit-node.js'
import { convertToFiles } from '../support/convert.js'
import { besideRoot } from '../support/fixtures.js'

export interface Golden {
  readonly name: string
  readonly dir: string
  readonly outputs: readonly { readonly outtype: string; readonly sha256: string }[]
}

const folder = join(besideRoot, 'hf-gguf')
const packages = process.env.TARE_TOKENIZER_PACKAGES ?? ''
const list = join(folder, 'cases.json')
export const goldenCases: readonly Golden[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).cases : []
export const isReady = packages !== '' && existsSync(join(packages, 'node_modules')) && goldenCases.length > 0

/** Makes the directory of a case below another. */
export function makeDirectory({ name, dir }: Golden, scratch: string): string {
  const make = join(folder, 'make-hf-dir.mjs')
  const args = ['--cases', join(folder, 'case-defs.json'), '--case', name, '--out', scratch, '--packages', packages]
  execFileSync(process.execPath, [make, ...args], { stdio: 'pipe' })
  return join(scratch, name, dir)
}

/** The GGUF file of a directory. */
export async function convertDirectory(path: string, outtype: string): Promise<Uint8Array> {
  const model = await openModel(await openInput(path))
  const cast = outtype === 'auto' ? undefined : outtype
  try {
    const files = await convertToFiles(model, 'gguf', { name: 'model.gguf', cast })
    return files.get('model.gguf')!
  } finally {
    await closeModel(model)
  }
}
