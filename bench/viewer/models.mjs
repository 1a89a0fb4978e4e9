// The files that the page is measured on.
import { closeSync, openSync, writeSync } from 'node:fs'

const [rows, columns] = [8192, 8192]

/** The same 64 MiB again and again: made-up halves between 2^-9 and 2^-5, of either sign. */
function someHalves() {
  const weights = new Uint16Array(2 ** 25)
  let state = 1
  for (let i = 0; i < weights.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    weights[i] = ((state >>> 31) << 15) | ((6 + ((state >>> 28) & 3)) << 10) | ((state >>> 12) & 1023)
  }
  return weights
}

function writeFile(path, header, size, content) {
  const bytes = Buffer.from(header)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(bytes.byteLength))
  const file = openSync(path, 'w')
  writeSync(file, length)
  writeSync(file, bytes)
  for (let done = 0; done < size; done += content.byteLength)
    writeSync(file, content, 0, Math.min(content.byteLength, size - done))
  closeSync(file)
}

/** Matrices of f16, as many as fit. */
export function writeLarge(path, gib) {
  const bytes = rows * columns * 2
  const count = Math.max(1, Math.round((gib * 2 ** 30) / bytes))
  const entries = Array.from({ length: count }, (_, i) => [
    `layers.${i}.weight`,
    { dtype: 'F16', shape: [rows, columns], data_offsets: [i * bytes, (i + 1) * bytes] },
  ])
  writeFile(path, JSON.stringify(Object.fromEntries(entries)), count * bytes, someHalves())
}

/** Tensors of one byte each. Longer names would be a header of more than the 100 MB that the format allows. */
export function writeMillion(path, count = 1_000_000) {
  const kinds = ['gate', 'up', 'down', 'bias']
  const nameOf = (i) => `layers.${Math.floor(i / 4096)}.experts.${Math.floor(i / 4) % 1024}.${kinds[i % 4]}`
  const entries = Array.from(
    { length: count },
    (_, i) => `"${nameOf(i)}":{"dtype":"U8","shape":[1],"data_offsets":[${i},${i + 1}]}`,
  )
  writeFile(path, `{${entries.join(',')}}`, count, new Uint8Array(1 << 20))
}

/** A GGUF file with one matrix of q4_k: blocks of 256 values in 144 bytes, with made-up scales and codes. */
export function writeQuantized(path) {
  const text = (value) => {
    const bytes = Buffer.from(value)
    return Buffer.concat([u64(bytes.byteLength), bytes])
  }
  const u32 = (value) => Buffer.from(Uint32Array.of(value).buffer)
  const u64 = (value) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
  const [stringType, q4k] = [8, 12]
  const header = Buffer.concat([
    ...[Buffer.from('GGUF'), u32(3), u64(1), u64(1)],
    ...[text('general.architecture'), u32(stringType), text('llama')],
    ...[text('layer.weight'), u32(2), u64(columns), u64(rows), u32(q4k), u64(0)],
  ])
  const blocks = new Uint8Array(((rows * columns) / 256) * 144)
  const halves = new Uint16Array(blocks.buffer)
  let state = 1
  for (let i = 0; i < blocks.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    blocks[i] = state >>> 24
  }
  // The two scales of a block: 2^-8 and 2^-5.
  for (let i = 0; i < halves.length; i += 72) halves.set([0x1c00, 0x2800], i)
  const padding = Buffer.alloc((32 - (header.byteLength % 32)) % 32)
  const file = openSync(path, 'w')
  for (const part of [header, padding, blocks]) writeSync(file, part)
  closeSync(file)
}
