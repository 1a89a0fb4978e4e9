// The first screen says what can be opened.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { formats } from '../../src/kit.js'

/** What a format is called there where that is not its title. */
const calledThere: Readonly<Record<string, string>> = {
  npy: 'NumPy',
  npz: 'NumPy',
  dcp: 'PyTorch (also distributed)',
  ggjt: 'GGML and GGJT',
}

it('names every format', () => {
  const source = readFileSync(join(import.meta.dirname, '../../viewer/src/screens/drop/index.tsx'), 'utf8')
  const named = /const formatNames = \[([^;]*?)\n\]/.exec(source)![1]!.toLowerCase()
  for (const { id, title } of formats) expect(named, id).toContain((calledThere[id] ?? title).toLowerCase())
})
