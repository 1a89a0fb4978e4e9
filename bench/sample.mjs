import { closeSync, openSync, writeSync } from 'node:fs'

/** Writes a safetensors file of about `size` bytes, 16 MiB a tensor, which `fill` is given to fill. Returns its exact size. */
export function writeSample(path, size, fill = fillEvenly) {
  const each = 16 << 20
  const count = Math.max(1, Math.floor(size / each))
  const entries = Array.from({ length: count }, (_, i) => [
    `layers.${i}.weight`,
    { dtype: 'F32', shape: [2048, 2048], data_offsets: [i * each, (i + 1) * each] },
  ])
  const text = JSON.stringify(Object.fromEntries(entries))
  const header = Buffer.alloc(8 + Math.ceil(text.length / 8) * 8, ' ')
  header.writeBigUInt64LE(BigInt(header.length - 8))
  header.write(text, 8)
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

function fillEvenly(data, i) {
  for (let k = 0; k < data.length; k += 1) data[k] = ((k * 2654435761 + i) % 2000) / 1000 - 1
}
