// Directories as they are found on hubs, each with the values that its weights stand for.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describePacking, packingOf, readPayload, type Tensor, unpackModel } from '../../src/kit.js'
import { openModel } from '../../src/node.js'
import { besideRoot } from '../support/fixtures.js'
import { whereBitsDiffer } from '../support/numbers.js'

interface Case {
  readonly directory: string
  readonly tensors: Readonly<Record<string, { readonly shape: readonly number[] }>>
  readonly expected: string
  readonly exact: boolean
  readonly relativeTolerance: number
}

const root = join(besideRoot, 'quantized-hf')
const isThere = existsSync(root)
const cases = isThere
  ? (JSON.parse(readFileSync(join(root, 'manifest.json'), 'utf8')) as { directories: Case[] }).directories
  : []

const labels: Readonly<Record<string, string>> = {
  'gptq-4bit': 'gptq 4-bit, group 32',
  'gptq-4bit-desc-act': 'gptq 4-bit, group 32',
  'gptq-4bit-v2': 'gptq 4-bit, group 64',
  'gptq-8bit-sym': 'gptq 8-bit, group 128',
  'awq-gemm': 'awq 4-bit, group 64',
  'ct-int4': 'compressed-tensors int 4-bit, group 32',
  'ct-fp8-channel': 'fp8 8-bit, one scale per row',
  'ct-fp8-tensor': 'fp8 8-bit, one scale',
  'ct-nvfp4': 'compressed-tensors nvfp4 4-bit, group 16',
  'deepseek-fp8': 'fp8 8-bit, blocks of 128 × 128',
  'bnb-nf4': 'bitsandbytes nf4 4-bit, with coded scales',
  'bnb-int8': 'bitsandbytes int8 8-bit, one scale per row',
  'mlx-4bit': 'mlx 4-bit, group 64',
  mxfp4: 'mxfp4 4-bit, group 32',
}

const floats = async ({ data }: Tensor): Promise<Float32Array> => new Float32Array((await readPayload(data!)).buffer)

describe.skipIf(!isThere)('packed directories', () => {
  it('has a case for every directory', () => {
    expect(cases.map(({ directory }) => directory).sort()).toEqual(Object.keys(labels).sort())
  })

  it.each(cases)('decodes $directory', async ({ directory, tensors, expected, exact, relativeTolerance }) => {
    await using model = await openModel(join(root, directory))
    await using wanted = await openModel(join(root, expected))
    const { weights } = await packingOf(model)
    expect([...new Set(weights.map(describePacking))]).toEqual([labels[directory]])
    const unpacked = await unpackModel(model)
    const names = Object.keys(tensors)
    expect(
      unpacked.tensors
        .filter(({ dtype }) => dtype.id === 'f32')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names.sort())
    expect(unpacked.tensors.some(({ name }) => name === 'model.norm.weight')).toBe(true)
    for (const name of names) {
      const tensor = unpacked.tensors.find((each) => each.name === name)!
      expect(tensor.shape).toEqual(tensors[name]!.shape)
      const [made, right] = [await floats(tensor), await floats(wanted.tensor(name))]
      if (exact) expect(whereBitsDiffer(made, right)).toBe(-1)
      else expect(farthest(made, right)).toBeLessThanOrEqual(relativeTolerance)
      const [start, length] = [made.byteLength / 2 - 12, 20]
      const part = await tensor.data!.read!(start, length)
      expect(whereBitsDiffer(part, new Uint8Array(made.buffer, start, length))).toBe(-1)
    }
  })
})

/** The largest difference relative to the value; every value must be there. */
function farthest(made: Float32Array, right: Float32Array): number {
  if (made.length !== right.length) return Number.POSITIVE_INFINITY
  return right.reduce((max, value, i) => {
    const difference = Math.abs(made[i]! - value)
    return Math.max(max, difference === 0 ? 0 : difference / Math.abs(value))
  }, 0)
}
