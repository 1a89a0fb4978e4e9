// Files that a current PyTorch wrote, with what it reads back from them; they lie beside the project.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  diffModels,
  hashModel,
  MemorySource,
  type Model,
  openModel,
  planConversion,
  verifySource,
} from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixturesRoot } from '../../support/fixtures.js'

interface Written {
  readonly file: string
  readonly tensors: Readonly<Record<string, { readonly shape: readonly number[]; readonly sha256?: string }>>
}

const folder = join(fixturesRoot, '..', '..', 'shared', 'fixtures', 'torch-modern')
const list = join(folder, 'manifest.json')
const files: readonly Written[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).files : []
const source = (file: string): MemorySource => new MemorySource(new Uint8Array(readFileSync(join(folder, file))), file)

describe.skipIf(files.length === 0)('files of a current PyTorch', () => {
  it.each(files)('$file verifies, and has the tensors that PyTorch finds', async ({ file, tensors }) => {
    const { verdict, findings } = await verifySource(source(file))
    expect([verdict, findings.filter(({ severity }) => severity === 'error')]).toEqual([
      expect.not.stringMatching('errors'),
      [],
    ])
    const { tensors: hashed } = await hashModel(await openModel(source(file)), { algorithm: 'sha256' })
    const digests = new Map(hashed.map(({ name, digest }) => [name, digest]))
    for (const [name, { sha256 }] of Object.entries(tensors)) {
      if (sha256 !== undefined && digests.has(name)) expect(digests.get(name), name).toBe(sha256)
    }
  })

  it.each(files)('$file comes back equal from formats that name no loss', async ({ file }) => {
    const model: Model = await openModel(source(file))
    for (const target of ['safetensors', 'npz', 'mcf', 'aero']) {
      const { plan } = await planConversion(model, target, { name: 'x' })
      if (plan.loss !== 'none') continue
      const again = await openModel(sourceOf(await convertToFiles(model, target, { name: 'x' })), { from: target })
      expect((await diffModels(model, again)).equal, target).toBe(true)
    }
  })
})
