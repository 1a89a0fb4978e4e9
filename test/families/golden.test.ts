// Directories that llama.cpp's own converter has converted: the files must be the same, byte for byte.
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { closeModel, openInput, openModel } from '../../src/kit-node.js'
import { convertToFiles } from '../support/convert.js'
import { goldenCases, makeDirectory } from './golden-cases.js'

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

describe.skipIf(goldenCases.length === 0)('directories that llama.cpp has converted', () => {
  for (const golden of goldenCases) {
    it(golden.name, { timeout: 120_000 }, async () => {
      const path = makeDirectory(golden)
      for (const { outtype, sha256 } of golden.outputs)
        expect(await digestOfConverted(path, outtype), outtype).toBe(sha256)
      rmSync(path, { recursive: true })
    })
  }
})
