// What the list of fixtures does not say: metadata, roles, places of the data, and which code each hostile file gets.
import { describe, expect, it } from 'vitest'
import { architectureOf } from '../../../src/content/architecture.js'
import { countingSource, MemorySource, openModel, planRepair, readPayload, verifySource } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../support/fixtures.js'

const open = (file: string) => openModel(fixtureSource('keras', file))

describe('Keras', () => {
  it.each(['mlp.keras', 'mlp-whole.h5', 'deflated.keras'])('tells of %s what it says about itself', async (file) => {
    const model = await open(file)
    expect(model.metadata.get('keras_version')).toEqual({ type: 'str', value: '3.15.1' })
    const config = model.metadata.get('model_config') as { value: string }
    expect(JSON.parse(config.value)).toMatchObject({ class_name: 'Sequential' })
    expect(await architectureOf(model)).toMatchObject({ architecture: 'Sequential mlp', layers: 3 })
    expect(model.tensors.filter(({ role }) => role === 'state')).toHaveLength(14)
  })

  it('leaves weights where they are in an archive', async () => {
    const model = await open('mlp.keras')
    for (const { data } of model.tensors) expect(data!.origin?.source).toBe(model.files[0])
  })

  it('keeps attributes of every type', async () => {
    const { metadata } = await open('types.h5')
    expect(metadata.get('vars@i')).toEqual({ type: 'i32', value: -5 })
    expect(metadata.get('vars@f')).toEqual({ type: 'f64', value: 0.5 })
    expect(metadata.get('vars@u')).toEqual({ type: 'str', value: 'häß' })
    expect(metadata.get('vars@b')).toEqual({ type: 'bool', value: true })
    expect(metadata.get('vars@a')).toMatchObject({ type: 'ndarray', value: Uint8Array.of(0, 0, 1, 0, 2, 0, 3, 0) })
  })

  it('reads dense groups and attributes of the newest form', async () => {
    const { tensors, metadata } = await open('dense-latest.h5')
    expect(tensors).toHaveLength(120)
    expect(metadata.get('attribute_19')).toEqual({ type: 'str', value: 'value 19' })
  })

  it('reads datasets that can grow, and leaves out one that holds nothing', async () => {
    const told: string[] = []
    const { tensors } = await openModel(fixtureSource('keras', 'growing-2.0.weights.h5'), {
      onFinding: ({ code }) => told.push(code),
    })
    expect(tensors.map(({ shape }) => shape)).toEqual([[20, 9], [30], [5, 3]])
    expect(told).toEqual(['hdf5/nothing'])
  })

  it('shares the data of a dataset with two names', async () => {
    const { tensors } = await open('links.h5')
    const [first, second] = tensors
    expect(first!.data).toBe(second!.data)
  })

  it('reads any part of a packed tensor', async () => {
    const { tensors } = await open('chunked.weights.h5')
    const data = tensors[0]!.data!
    const all = await readPayload(data)
    for (const [at, length] of [
      [0, 4],
      [3, 900],
      [1500, 800],
      [2811, 1],
    ] as const)
      expect([...(await data.read!(at, length))]).toEqual([...all.subarray(at, at + length)])
  })

  it('is known without its extension, and in the middle of nothing else', async () => {
    const { format } = await openModel(new MemorySource(fixtureBytes('keras', 'mlp.keras'), 'weights.bin'))
    expect(format).toBe('keras')
  })

  it('opens by its index alone', async () => {
    const count = { reads: 0, bytes: 0 }
    const bytes = fixtureBytes('keras', 'mlp.weights.h5')
    await openModel(countingSource(new MemorySource(bytes, 'mlp.weights.h5'), count))
    expect(count.reads).toBeLessThan(6)
  })

  it('becomes safetensors with the same values', async () => {
    const model = await open('bf16.keras')
    const files = await convertToFiles(model, 'safetensors')
    const [[name, bytes]] = [...files] as [[string, Uint8Array]]
    const made = await openModel(new MemorySource(bytes, name))
    expect(made.tensors.map(({ dtype }) => dtype.id)).toEqual(['bf16', 'bf16'])
    for (const tensor of model.tensors) {
      const twin = made.tensors.find((each) => each.name === tensor.name)
      expect(await readPayload(twin!.data!)).toEqual(await readPayload(tensor.data!))
    }
  })

  it('saves from a cut file what is there', async () => {
    const bytes = fixtureBytes('keras', 'mlp.weights.h5')
    const cut = new MemorySource(bytes.subarray(0, bytes.byteLength - 800), 'cut.h5')
    const { lost, size } = await planRepair(cut, { name: 'out.safetensors' })
    expect(lost.length).toBeGreaterThan(0)
    expect(lost.length).toBeLessThan(8)
    expect(size).toBeGreaterThan(1000)
  })
})

describe('hostile files of Keras', () => {
  it.each([
    ['bad-tree-cycle.h5', 'hdf5/structure'],
    ['bad-userblock-512.h5', 'open/foreign-format'],
    ['bad-link-loop', 'hdf5/group-again'],
    ['bad-data-on-index.h5', 'hdf5/overlap'],
    ['bad-data-address.h5', 'hdf5/outside'],
    ['bad-dims-overflow.h5', 'hdf5/outside'],
    ['bad-dims-huge.h5', 'hdf5/dataspace'],
    ['bad-missing-chunks.h5', 'hdf5/unwritten'],
    ['bad-chunk-size.h5', 'hdf5/outside'],
    ['bad-chunk-twice.h5', 'hdf5/chunks'],
    ['bad-chunk-data.h5', 'hdf5/chunk-data'],
    ['bad-fletcher.h5', 'hdf5/chunk-data'],
    ['bad-checksum.h5', 'hdf5/checksum'],
    ['bad-deep.h5', 'hdf5/depth'],
    ['bad-cut.h5', 'hdf5/truncated'],
    ['bad-crc.keras', 'zip/crc'],
    ['bad-no-weights.keras', 'keras/archive'],
    ['bad-long-paths.keras', 'hdf5/index'],
    ['bad-many-chunks.keras', 'hdf5/index'],
    ['unsupported-lzf.h5', 'hdf5/unsupported'],
  ])('%s: %s', async (file, code) => {
    const name = file === 'bad-link-loop' ? 'links-to-root.h5' : file
    const { findings } = await verifySource(fixtureSource('keras', name))
    expect(findings.map((finding) => finding.code)).toContain(code)
  })
})
