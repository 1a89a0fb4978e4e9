// Writes an AERO file with many small tensors, each with a hash in the index. The hashes are made up: opening a file does not compare them.
import { closeSync, openSync, writeSync } from 'node:fs'
import { digestOf } from '../dist/node.js'

const each = 64

export async function writeManyTensors(path, count) {
  const index = encodeIndex(count)
  const weights = new Uint8Array(count * each)
  const chunks = [
    { fourcc: 'TIDX', name: 'tensors', flags: 4, bytes: index },
    { fourcc: 'WTSH', name: 'weights.shard0', flags: 2, bytes: weights },
  ]
  const names = Buffer.from(chunks.map(({ name }) => `${name}\0`).join(''))
  const stringsAt = 96 + 16 + 80 * chunks.length
  const control = Buffer.alloc(align(stringsAt + names.length, 16))
  control.write('AERO')
  control.writeUInt16LE(1, 6)
  control.writeUInt32LE(96, 8)
  control.writeBigUInt64LE(96n, 12)
  control.writeBigUInt64LE(BigInt(stringsAt - 96), 20)
  control.writeBigUInt64LE(BigInt(stringsAt), 28)
  control.writeBigUInt64LE(BigInt(align(names.length, 8)), 36)
  control.writeUInt32LE(chunks.length, 96)
  names.copy(control, stringsAt)
  const file = openSync(path, 'w')
  let end = control.length
  let nameAt = 0
  for (const [i, { fourcc, name, flags, bytes }] of chunks.entries()) {
    const at = 112 + 80 * i
    const offset = align(end, 16)
    control.write(fourcc, at)
    control.writeUInt32LE(flags, at + 4)
    control.writeBigUInt64LE(BigInt(offset), at + 8)
    control.writeBigUInt64LE(BigInt(bytes.length), at + 16)
    control.writeBigUInt64LE(BigInt(bytes.length), at + 24)
    control.writeUInt32LE(nameAt, at + 32)
    control.writeUInt32LE(name.length, at + 36)
    control.set(await digestOf('blake3', bytes), at + 48)
    for (let done = 0; done < bytes.length; done += 1 << 24) {
      writeSync(file, bytes.subarray(done, done + (1 << 24)), 0, undefined, offset + done)
    }
    end = offset + bytes.length
    nameAt += name.length + 1
  }
  writeSync(file, control, 0, control.length, 0)
  closeSync(file)
  return { size: end, indexSize: index.length }
}

const align = (offset, to) => Math.ceil(offset / to) * to

export const nameOf = (i) => `model.layers.${i % 80}.mlp.experts.${Math.floor(i / 80)}.gate_proj.weight`

function encodeIndex(count) {
  const parts = [Buffer.from([0x81]), text('tensors'), Buffer.from([0xdd, ...word(count)])]
  const keys = ['name', 'dtype', 'shape', 'shard_id', 'data_off', 'data_len', 'flags', 'hash_b3'].map(text)
  for (let i = 0; i < count; i++) {
    const hash = i.toString(16).padStart(64, '0')
    const values = [text(nameOf(i)), [2], [0x92, 4, 8], [0], [0xce, ...word(i * each)], [each], [0], text(hash)]
    parts.push(Buffer.from([0x88]))
    for (const [k, value] of values.entries()) parts.push(keys[k], Buffer.from(value))
    if (parts.length > 100_000) parts.splice(0, parts.length, Buffer.concat(parts))
  }
  return Buffer.concat(parts)
}

function text(value) {
  const head = value.length < 32 ? [0xa0 + value.length] : [0xd9, value.length]
  return Buffer.concat([Buffer.from(head), Buffer.from(value)])
}

function word(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
