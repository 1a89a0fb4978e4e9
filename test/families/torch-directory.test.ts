// Directories whose weights are in files of PyTorch.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readPayload, type Tensor } from '../../src/kit-node.js'
import { archive, dict, storage, tensor } from '../formats/torch/build.js'
import { convertDirectory } from './golden-cases.js'
import { tinyShapes, tinyTensors, writeTinyModel } from './tiny-model.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-torch-families-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const folder = (name: string): string => join(scratch, name, 'Tiny-Llama-Chat')
/** llama.cpp's converter takes the tensors of such files as they come, and those of safetensors by name. */
const byName = (a: Tensor, b: Tensor): number => (a.name < b.name ? -1 : 1)

async function checkpoint(tensors: readonly Tensor[], isTransposed = false): Promise<Uint8Array> {
  const storages: Record<string, Uint8Array> = {}
  const entries: Record<string, ReturnType<typeof tensor>> = {}
  for (const [i, { name, shape, data }] of tensors.entries()) {
    const bytes = await readPayload(data!)
    const count = bytes.byteLength / 4
    const view = isTransposed && shape.length === 2 ? { strides: [1, shape[0]!] } : {}
    storages[String(i)] = isTransposed && shape.length === 2 ? transposed(bytes, shape) : bytes
    entries[name] = tensor(storage(String(i), 'torch FloatStorage', count), shape, view)
  }
  return archive(dict(entries), storages)
}

function transposed(bytes: Uint8Array<ArrayBuffer>, [rows = 0, columns = 0]: readonly number[]): Uint8Array {
  const values = new Float32Array(bytes.buffer)
  const turned = Float32Array.from(values, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!)
  return new Uint8Array(turned.buffer)
}

const convert = (path: string): Promise<Uint8Array> => convertDirectory(path, 'f32')

describe('weights in files of PyTorch', () => {
  it('give the same file as in safetensors', async () => {
    const expected = await convert(await writeTinyModel(folder('safetensors')))
    const tensors = tinyTensors(tinyShapes).sort(byName)
    const files = { 'model.safetensors': null, 'pytorch_model.bin': await checkpoint(tensors) }
    expect(await convert(await writeTinyModel(folder('bin'), { files }))).toEqual(expected)
    const views = { ...files, 'pytorch_model.bin': await checkpoint(tensors, true) }
    expect(await convert(await writeTinyModel(folder('views'), { files: views }))).toEqual(expected)
  })

  it('can be spread over several', async () => {
    const tensors = tinyTensors(tinyShapes).sort(byName)
    const names = [1, 2].map((i) => `pytorch_model-0000${i}-of-00002.bin`)
    const map = Object.fromEntries(tensors.map(({ name }, i) => [name, names[i < 9 ? 0 : 1]]))
    const path = await writeTinyModel(folder('shards'), {
      files: {
        'model.safetensors': null,
        'pytorch_model.bin.index.json': JSON.stringify({ metadata: {}, weight_map: map }),
      },
    })
    writeFileSync(join(path, names[0]!), await checkpoint(tensors.slice(0, 9)))
    writeFileSync(join(path, names[1]!), await checkpoint(tensors.slice(9)))
    expect(await convert(path)).toEqual(await convert(await writeTinyModel(folder('whole'))))
  })
})
