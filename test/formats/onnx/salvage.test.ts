import { expect, test } from 'vitest'
import { joinBytes } from '../../../src/bytes/index.js'
import { hashModel, MemorySink, MemorySource, openModel, planRepair, writeLayout } from '../../../src/kit.js'
import { protoBytes, protoInt, protoMessage, protoText, type Rope } from '../../../src/wire/protobuf/write.js'

const bytesOf = ({ pieces }: Rope): Uint8Array => joinBytes(pieces as readonly Uint8Array[])

const data = (length: number, seed: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * seed) % 256)
const initializer = (name: string, length: number, seed: number): Rope =>
  protoMessage(5, [protoInt(1, length), protoInt(2, 2), protoText(8, name), protoBytes<never>(9, data(length, seed))])
/** A constant of a node: the tensor is in an attribute, its name is that of the output. */
const constant = (name: string, length: number): Rope =>
  protoMessage(1, [
    protoText(2, name),
    protoText(4, 'Constant'),
    protoMessage(5, [
      protoText(1, 'value'),
      protoInt(20, 4),
      protoMessage(5, [protoInt(1, length), protoInt(2, 2), protoBytes<never>(9, data(length, 9))]),
    ]),
  ])

const graph = [
  constant('constant', 50),
  initializer('first', 100, 3),
  initializer('second', 300, 5),
  initializer('third', 20, 7),
]
const file = bytesOf({
  byteLength: 0,
  pieces: [protoInt(1, 8), protoMessage(7, graph), protoMessage(8, [protoInt(2, 17)])].flatMap(({ pieces }) => pieces),
})

async function save(bytes: Uint8Array) {
  const planned = await planRepair(new MemorySource(bytes, 'm.onnx'), { name: 'out.onnx' })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (name) => new MemorySink(name, files))
  const model = await openModel(new MemorySource(files.get('out.onnx')!, 'out.onnx'))
  const lost = planned.salvage!.lost.filter(({ subject }) => subject === 'tensor')
  return { model, names: model.tensors.map(({ name }) => name).sort(), lost }
}

test('initializers before the cut are saved, the one under it is named', async () => {
  const whole = await openModel(new MemorySource(file, 'm.onnx'))
  const digests = new Map((await hashModel(whole)).tensors.map(({ name, digest }) => [name, digest]))
  const second = whole.tensors.find(({ name }) => name === 'second')!.data!.origin!
  for (const end of [second.offset + 1, second.offset + second.length - 1]) {
    const { model, names, lost } = await save(file.subarray(0, end))
    expect(names).toEqual(['constant', 'first'])
    for (const { name, digest } of (await hashModel(model)).tensors) expect(digest).toBe(digests.get(name))
    expect(lost.map(({ name }) => name)).toEqual(['second', undefined])
    expect(lost[0]!.reason).toMatch(/^it ends at \d+, the file at \d+$/)
  }
  // Up to the end of its last byte the message of the tensor is whole.
  expect((await save(file.subarray(0, second.offset + second.length))).names).toEqual(['constant', 'first', 'second'])
})

test('a cut through a node costs the tensors in it', async () => {
  const whole = await openModel(new MemorySource(file, 'm.onnx'))
  const place = whole.tensors.find(({ name }) => name === 'constant')!.data!.origin!
  await expect(save(file.subarray(0, place.offset + 5))).rejects.toMatchObject({ code: 'write/nothing-to-repair' })
})

test('a cut behind the graph costs no tensor', async () => {
  const { names, lost } = await save(file.subarray(0, -1))
  expect([names, lost]).toEqual([['constant', 'first', 'second', 'third'], []])
})
