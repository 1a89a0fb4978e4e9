// What every method makes of the same values, as digests: in Node, in a page, and in its workers.
import { f32 } from '../../../src/dtypes/index.js'
import { BlobSource, digestOf, rangePayload, readPayload, type Tensor, toHex } from '../../../src/kit.js'
import { pooled } from '../../../src/transforms/pooled.js'
import { methodNames, needsWeights, requireMethod } from '../../../src/transforms/quantize/method.js'
import { type QuantizeOptions, quantizeTensor } from '../../../src/transforms/quantize/quantize.js'
import { poolNamed } from './pool.js'

const shape = [24, 512] as const

/** Mostly small, some large, whole runs of zeros; made with whole numbers, so that they are the same everywhere. */
function values(): Float32Array<ArrayBuffer> {
  let state = 1
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 31 - 1
  }
  return Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => {
    const value = next() * next() * next()
    return i % 700 < 40 ? 0 : i % 97 === 0 ? value * 8 : value
  })
}

/** So dear that the pieces of so small a matrix are worth a way to another thread. */
const cost = 4e6 / 1024

/** With the workers of a pool, if one of this name is open. */
export async function digestsOfMethods(poolName?: string): Promise<Record<string, string>> {
  const pool = poolName === undefined ? undefined : poolNamed(poolName)
  const source = new BlobSource(new Blob([values()]), 'values.bin')
  const data = rangePayload(source, 0, 4 * shape[0] * shape[1])
  const tensor: Tensor = { name: 'w', dtype: f32, shape, order: 'row', role: 'weight', data }
  const importance = Float32Array.from({ length: shape[1] }, (_, i) => 0.01 + (i % 13) ** 2)
  const manners: readonly [string, QuantizeOptions][] = [
    ['', {}],
    [' with weights', { importance }],
    [' as the reference', { mode: 'reference' }],
    [' as the reference with weights', { mode: 'reference', importance }],
  ]
  const digests: Record<string, string> = {}
  for (const name of methodNames())
    for (const [label, options] of manners) {
      if (needsWeights(requireMethod(name)) && !options.importance) continue
      const threads = pool && { pool }
      const made = quantizeTensor(tensor, name, { ...options, threads }).data!
      const shared = pool ? pooled(made, pool, cost) : made
      digests[`${name}${label}`] = toHex(await digestOf('sha256', await readPayload(shared)))
    }
  return digests
}
