// What the list of fixtures does not say: quantization, metadata, the graph, places of the data, and which code each hostile file gets.
import { describe, expect, it } from 'vitest'
import { MemorySource, openModel, readPayload, verifySource } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../support/fixtures.js'

const open = (file: string) => openModel(fixtureSource('tflite', file))

describe('TensorFlow Lite', () => {
  it('reads scales for each channel and for a whole tensor', async () => {
    const { tensors } = await open('int8.tflite')
    const kernel = tensors.find(({ shape }) => shape.length === 4)!
    expect(kernel.quant).toMatchObject({ scheme: 'symmetric', axis: 0 })
    expect(kernel.quant!.scales).toHaveLength(4)
    expect(kernel.quant!.scales.every((scale) => scale > 0)).toBe(true)
  })

  it.each(['float.tflite', 'buffer-offset.tflite'])('leaves the data of %s where they are', async (file) => {
    const model = await open(file)
    for (const { data } of model.tensors) expect(data!.origin?.source).toBe(model.files[0])
  })

  it('has the same weights inside the tables and behind them', async () => {
    const [inside, behind] = [await open('float.tflite'), await open('buffer-offset.tflite')]
    for (const tensor of inside.tensors) {
      const twin = behind.tensors.find(({ name }) => name === tensor.name)!
      expect(await readPayload(twin.data!)).toEqual(await readPayload(tensor.data!))
    }
  })

  it('shares a buffer between tensors', async () => {
    const { tensors } = await open('tied.tflite')
    const tied = tensors.filter(({ name }) => ['tied', 'arith.constant'].includes(name))
    expect(tied).toHaveLength(2)
    expect(tied[0]!.data!.origin).toEqual(tied[1]!.data!.origin)
  })

  it('keeps description and metadata, and tells of the graph', async () => {
    const { metadata, parts } = await open('metadata.tflite')
    expect(metadata.get('description')).toEqual({ type: 'str', value: 'Größe' })
    expect(metadata.get('notes')).toEqual({ type: 'str', value: 'labels\nx\n' })
    expect(metadata.get('CONVERSION_METADATA')).toMatchObject({ type: 'bytes' })
    const [graph] = parts
    expect(graph).toMatchObject({ kind: 'tflite.graph', value: { inputs: ['serving_default_keras_tensor:0'] } })
  })

  it('is known without its extension', async () => {
    const { format } = await openModel(new MemorySource(fixtureBytes('tflite', 'float.tflite'), 'weights.bin'))
    expect(format).toBe('tflite')
  })

  it('becomes safetensors with the same values', async () => {
    const model = await open('f16.tflite')
    const files = await convertToFiles(model, 'safetensors')
    const [[name, bytes]] = [...files] as [[string, Uint8Array]]
    const made = await openModel(new MemorySource(bytes, name))
    for (const tensor of model.tensors) {
      const twin = made.tensors.find((each) => each.name === tensor.name)!
      expect(twin.dtype.id).toBe(tensor.dtype.id)
      expect(await readPayload(twin.data!)).toEqual(await readPayload(tensor.data!))
    }
  })
})

describe('hostile files of TensorFlow Lite', () => {
  it.each([
    ['bad-root.tflite', 'flatbuffers/outside'],
    ['bad-vtable.tflite', 'flatbuffers/outside'],
    ['bad-vtable-size.tflite', 'flatbuffers/table'],
    ['bad-field-place.tflite', 'flatbuffers/table'],
    ['bad-count.tflite', 'flatbuffers/outside'],
    ['bad-buffers-count.tflite', 'flatbuffers/outside'],
    ['bad-name-utf8.tflite', 'flatbuffers/text'],
    ['bad-name-end.tflite', 'flatbuffers/text'],
    ['bad-buffer.tflite', 'tflite/buffer'],
    ['bad-offset.tflite', 'tflite/buffer'],
    ['bad-offset-wide.tflite', 'flatbuffers/outside'],
    ['bad-offset-overlap.tflite', 'tflite/overlap'],
    ['bad-size.tflite', 'tflite/size'],
    ['bad-shape.tflite', 'tflite/shape'],
    ['bad-shape-huge.tflite', 'tflite/shape'],
    ['bad-type.tflite', 'tflite/dtype'],
    ['bad-sparse.tflite', 'tflite/sparse'],
    ['bad-external.tflite', 'tflite/external'],
    ['bad-quantization.tflite', 'tflite/quantization'],
    ['bad-version.tflite', 'tflite/version'],
    ['bad-shared-table.tflite', 'flatbuffers/size'],
  ])('%s: %s', async (file, code) => {
    const { findings } = await verifySource(fixtureSource('tflite', file))
    expect(findings.map((finding) => finding.code)).toContain(code)
  })
})
