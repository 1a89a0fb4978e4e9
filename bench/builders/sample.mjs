import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'

const each = 16 * 2 ** 20

/** Writes a safetensors file of about `size` bytes, 16 MiB a tensor, which `fill` is given to fill. Returns its exact size. */
export function writeSample(path, size, { fill = fillEvenly, shape = [2048, 2048] } = {}) {
  const { header, count } = headerFor(size, shape)
  const file = openSync(path, 'w')
  writeSync(file, header)
  const data = new Float32Array(each / 4)
  for (let i = 0; i < count; i++) {
    fill(data, i)
    writeSync(file, new Uint8Array(data.buffer))
  }
  closeSync(file)
  return header.length + count * each
}

/** Sixteen tensors with holes in place of the data: it takes no room on the disk, whatever its size. */
export function writeSparseSample(path, size) {
  const length = size / 16
  const { header, count } = headerFor(size, [length / 4096, 1024], length)
  const file = openSync(path, 'w')
  writeSync(file, header)
  ftruncateSync(file, header.length + count * length)
  closeSync(file)
}

function headerFor(size, shape, length = each) {
  const count = Math.max(1, Math.floor(size / length))
  const entries = Array.from({ length: count }, (_, i) => [
    `layers.${i}.weight`,
    { dtype: 'F32', shape, data_offsets: [i * length, (i + 1) * length] },
  ])
  const text = JSON.stringify(Object.fromEntries(entries))
  const header = Buffer.alloc(8 + Math.ceil(text.length / 8) * 8, ' ')
  header.writeBigUInt64LE(BigInt(header.length - 8))
  header.write(text, 8)
  return { header, count }
}

function fillEvenly(data, i) {
  for (let k = 0; k < data.length; k += 1) data[k] = ((k * 2654435761 + i) % 2000) / 1000 - 1
}

/** The name of a tensor, as long as it can be for a million of them to fit a safetensors header, which has at most 100 MB. */
export const tensorName = (i) => `layers.${i % 80}.experts.${Math.floor(i / 80)}.up`
