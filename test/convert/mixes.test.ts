// Whole models as llama-quantize makes them: every tensor has its type and its bytes, and the metadata says what was written.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planQuantization } from '../../src/convert/quantize.js'
import {
  type Conversion,
  MemorySink,
  MemorySource,
  type Model,
  openModel,
  originOf,
  readImportance,
  readPayload,
  runConversion,
} from '../../src/kit.js'
import { besideRoot } from '../support/fixtures.js'

interface Run {
  readonly mix: string
  readonly imatrix: string | null
  readonly metadata: Readonly<Record<string, string | number>>
  readonly tensors: Readonly<Record<string, readonly [type: string, sha256: string]>>
  readonly sha256: string
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
  return { importance, importanceOrigin: originOf(model, importance.size) }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function written(conversion: Conversion): Promise<Uint8Array> {
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (name) => new MemorySink(name, files))
  return files.get('out.gguf')!
}

/** Runs whose whole files are compared. All are equal; of the others only small tensors are made here, because some types take long. */
const whole = new Set(['Q4_0 null', 'Q8_0 null', 'Q3_K_S null', 'Q4_K_M dense.gguf', 'MXFP4_MOE null', 'BF16 null'])
const small = ['blk.0.attn_k.weight', 'blk.1.attn_v.weight', 'blk.1.attn_norm.weight']

describe.skipIf(!isThere)('like llama-quantize', () => {
  it.each(runs.map((run) => [run.mix, run.imatrix ?? 'no imatrix', run] as const))(
    '%s with %s',
    async (mix, _, run) => {
      const plan = planQuantization(await open('tiny-llama-f16.gguf'), 'gguf', {
        ...{ name: 'out.gguf', method: mix.toLowerCase(), mode: 'reference', scan: true },
        ...(await matrixOf(run.imatrix)),
      })
      // There is no mix of that name, so it is one type for everything.
      if (mix === 'NVFP4') return expect((await plan).choices.some(({ method }) => method === 'ggml.nvfp4')).toBe(true)
      if (run.error !== undefined) {
        await expect(plan).rejects.toMatchObject({ finding: { code: 'usage/option' } })
        return
      }
      const conversion = await plan
      const { model } = conversion
      const metadata = Object.fromEntries(
        Object.keys(run.metadata).map((key) => [key, (model.metadata.get(key) as { readonly value: unknown })?.value]),
      )
      // Of f16 to f16 nothing is left to be done, and nothing is said about it.
      if (mix !== 'F16') expect(metadata).toEqual(run.metadata)
      const made = model.tensors.map(({ name, dtype }) => [name, dtype.id.replace('ggml.', '')])
      const wanted = Object.entries(run.tensors).map(([name, [type]]) => [name, type])
      expect(Object.fromEntries(made)).toEqual(Object.fromEntries(wanted))
      if (whole.has(`${mix} ${run.imatrix}`)) expect(sha256(await written(conversion))).toBe(run.sha256)
      for (const { name, data } of model.tensors.filter((tensor) => small.includes(tensor.name)))
        expect([name, sha256(await readPayload(data!))]).toEqual([name, run.tensors[name]![1]])
    },
  )
})
