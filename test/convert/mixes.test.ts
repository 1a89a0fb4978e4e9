// Whole models as llama-quantize makes them: every tensor has its type and its bytes, and the metadata says what was written.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planQuantization } from '../../src/convert/quantize.js'
import { MemorySource, type Model, openModel, originOf, readImportance, readPayload } from '../../src/kit.js'
import { besideRoot } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

interface Run {
  readonly mix: string
  readonly imatrix: string | null
  readonly metadata: Readonly<Record<string, string | number>>
  readonly tensors: Readonly<Record<string, readonly [type: string, sha256: string]>>
  readonly error?: string
}

const folder = join(besideRoot, 'mixes', 'end-to-end')
const isThere = existsSync(folder)
const read = (name: string): Uint8Array => new Uint8Array(readFileSync(join(folder, name)))
const runs: readonly Run[] = isThere
  ? (JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as { readonly results: readonly Run[] }).results
  : []

const open = (name: string): Promise<Model> => openModel(new MemorySource(read(name), name))

async function matrixOf(name: string | null) {
  if (name === null) return {}
  const model = await open(name)
  const importance = await readImportance(model)
  return { importance, imatrix: originOf(model, importance.size) }
}

describe.skipIf(!isThere)('like llama-quantize', () => {
  it.each(runs.map((run) => [run.mix, run.imatrix ?? 'no imatrix', run] as const))('%s with %s', async (mix, _, run) => {
    const plan = planQuantization(await open('tiny-llama-f16.gguf'), 'gguf', {
      ...{ name: 'out.gguf', method: mix.toLowerCase(), mode: 'reference', scan: true },
      ...(await matrixOf(run.imatrix)),
    })
    if (run.error !== undefined) {
      await expect(plan).rejects.toMatchObject({ finding: { code: 'usage/option' } })
      return
    }
    const { model } = await plan
    const metadata = Object.fromEntries(
      Object.keys(run.metadata).map((key) => [key, (model.metadata.get(key) as { readonly value: unknown })?.value]),
    )
    expect(metadata).toEqual(run.metadata)
    const made = await Promise.all(
      model.tensors.map(async ({ name, dtype, data }) => {
        const sha256 = createHash('sha256').update(await readPayload(data!)).digest('hex')
        return [name, [dtype.id.replace('ggml.', ''), sha256]] as const
      }),
    )
    expect(Object.fromEntries(made)).toEqual(run.tensors)
  })
})
