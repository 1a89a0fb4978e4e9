// The files must be those of llama.cpp's own converter, byte for byte.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { convertDirectory, goldenCases, isReady, makeDirectory } from './golden-cases.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-golden-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.skipIf(!isReady)('directories that llama.cpp has converted', () => {
  for (const golden of goldenCases) {
    it(golden.name, { timeout: 120_000 }, async () => {
      const path = makeDirectory(golden, scratch)
      for (const { outtype, sha256 } of golden.outputs) {
        const bytes = await convertDirectory(path, outtype)
        expect(createHash('sha256').update(bytes).digest('hex'), outtype).toBe(sha256)
      }
      rmSync(path, { recursive: true })
    })
  }
})
