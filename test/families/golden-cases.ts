// Directories that llama.cpp's own converter has converted. The tokenizers in them belong to their publishers: TARE_TOKENIZER_PACKAGES names
// a folder in which their packages are installed (see scripts/install-tokenizers.mjs).
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { besideRoot } from '../support/fixtures.js'

export interface Golden {
  readonly name: string
  readonly dir: string
  readonly outputs: readonly { readonly outtype: string; readonly sha256: string }[]
}

const folder = join(besideRoot, 'hf-gguf')
const packages = process.env.TARE_TOKENIZER_PACKAGES ?? ''
const list = join(folder, 'cases.json')
const isReady = packages !== '' && existsSync(join(packages, 'node_modules')) && existsSync(list)

/** Empty where the cases or the packages are not there. */
export const goldenCases: readonly Golden[] = isReady ? JSON.parse(readFileSync(list, 'utf8')).cases : []

const scratch = mkdtempSync(join(tmpdir(), 'tare-golden-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

export function makeDirectory({ name, dir }: Golden): string {
  const make = join(folder, 'make-hf-dir.mjs')
  const args = ['--cases', join(folder, 'case-defs.json'), '--case', name, '--out', scratch, '--packages', packages]
  execFileSync(process.execPath, [make, ...args], { stdio: 'pipe' })
  return join(scratch, name, dir)
}
