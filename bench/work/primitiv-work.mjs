// One kind of work on a primitiv model, in a process of its own: `payloads FILE`, `list FILE` or `virtual BYTES`.
import { closeSync, openSync, readSync } from 'node:fs'
import { closeModel, countingSource, lazyPayload, openInput, openModel, planConversion } from '../../dist/kit-node.js'
import { modelOf } from '../builders/primitiv-model.mjs'
import { answer, race } from '../harness/measure.mjs'

const [work, target] = process.argv.slice(2)
const window = 1 << 20

/** All bytes of a file with the plainest calls there are. */
function pread(path) {
  const file = openSync(path, 'r')
  const buffer = Buffer.allocUnsafeSlow(window)
  let at = 0
  for (let got = 1; got > 0; at += got) got = readSync(file, buffer, 0, window, at)
  closeSync(file)
}

async function readPayloads() {
  const model = await openModel(await openInput(target))
  let bytes = 0
  for (const { data } of model.tensors) for await (const chunk of data.chunks(window)) bytes += chunk.byteLength
  await closeModel(model)
  return bytes
}

async function list() {
  const model = await openModel(await openInput(target))
  await closeModel(model)
  return model.tensors.length
}

/** The model is laid out but never written: reads are answered from the slots, and data are zeros. */
async function listVirtual(size) {
  const edge = 1600
  const model = modelOf(Math.ceil(size / (4 * edge * edge)), [edge, edge], (length) =>
    lazyPayload(length, async function* () {}),
  )
  const { layout } = await planConversion(model, 'primitiv', { name: 'virtual.model' })
  const pieces = []
  let at = 0
  for (const slot of layout.files[0].slots) {
    if (slot.kind === 'bytes') pieces.push({ at, bytes: slot.bytes })
    at += slot.kind === 'bytes' ? slot.bytes.byteLength : slot.payload.byteLength
  }
  const source = {
    name: 'virtual.model',
    size: at,
    async read(offset, length) {
      const bytes = new Uint8Array(length)
      for (const piece of pieces) {
        const from = Math.max(piece.at, offset)
        const to = Math.min(piece.at + piece.bytes.byteLength, offset + length)
        if (from < to) bytes.set(piece.bytes.subarray(from - piece.at, to - piece.at), from - offset)
      }
      return bytes
    },
    async close() {},
  }
  const read = { reads: 0, bytes: 0 }
  const { tensors } = await openModel(countingSource(source, read))
  const index = pieces.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  return { size: at, tensors: tensors.length, read: read.bytes, reads: read.reads, index }
}

const result =
  work === 'virtual'
    ? await listVirtual(Number(target))
    : await race(work === 'payloads' ? readPayloads : list, () => pread(target), 8)
answer(result)
