// Packed weights that another thread decodes: what is sent is plain data, and any part of the values is the same.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dtypeById, packingOf, readPayload, unpackModel } from '../../src/kit.js'
import { recipeOf } from '../../src/model/payload.js'
import { openModel } from '../../src/node.js'
import { makePacked } from '../../src/packed/index.js'
import { openHandle } from '../../src/threads/node/worker-source.js'
import { castTensor } from '../../src/transforms/cast.js'
import { rebuildPayload } from '../../src/transforms/rebuild.js'
import { besideRoot } from '../support/fixtures.js'

const root = join(besideRoot, 'quantized-hf')
const isThere = existsSync(root)
const directories = isThere ? readdirSync(root).filter((name) => existsSync(join(root, name, 'config.json'))) : []

describe.skipIf(!isThere)('packed weights in another thread', () => {
  it.each(directories)('%s', async (directory) => {
    await using model = await openModel(join(root, directory))
    const { weights } = await packingOf(model)
    const names = new Set(weights.map(({ name }) => name))
    const { tensors } = await unpackModel(model)
    const unpacked = tensors.filter(({ name }) => names.has(name))
    expect(unpacked.length).toBe(names.size)
    for (const tensor of unpacked) {
      for (const made of [tensor, castTensor(tensor, dtypeById('f16')!)]) {
        const recipe = recipeOf(made.data)
        expect(recipe).toBeDefined()
        const { slices } = rebuildPayload(structuredClone(recipe!), openHandle, { packed: makePacked })
        const whole = await readPayload(made.data!)
        const count = whole.byteLength / slices!.unit
        for (const [from, to] of [
          [0, count],
          [1, 2],
          [Math.floor(count / 3), Math.ceil(count / 2) + 1],
          [count - 3, count],
        ] as const) {
          const part = await readPayload(slices!.take(from * slices!.unit, (to - from) * slices!.unit))
          expect(Buffer.compare(part, whole.subarray(from * slices!.unit, to * slices!.unit))).toBe(0)
        }
      }
    }
  })
})
