// Reads an array from an NPY file into one Float32Array, against npyjs, which is given the whole file: `FILE`.
import { readFileSync } from 'node:fs'
import { closeModel, decodedPayload, openInput, openModel } from '../../dist/kit-node.js'
import { answer, race } from '../harness/measure.mjs'

const path = process.argv[2]
let [own, theirs] = []

async function read() {
  const model = await openModel(await openInput(path))
  const payload = decodedPayload(model.tensors.at(0), 'f32')
  own = payload.read ? floats(await payload.read(0, payload.byteLength)) : await collect(payload)
  await closeModel(model)
}

const floats = ({ buffer, byteOffset, byteLength }) => new Float32Array(buffer, byteOffset, byteLength / 4)

async function collect(payload) {
  const bytes = new Uint8Array(payload.byteLength)
  let at = 0
  for await (const chunk of payload.chunks(1 << 20)) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return floats(bytes)
}

async function peer() {
  const { parse } = await import('npyjs')
  const { buffer, byteOffset, byteLength } = readFileSync(path)
  theirs = parse(buffer.slice(byteOffset, byteOffset + byteLength)).data
}

const times = await race(read, peer, 5)
if (own.length !== theirs.length || own.some((value, i) => value !== theirs[i])) throw new Error('the values differ')
answer({ ...times, bytes: own.byteLength })
