// Models for the tests of the page: two of the same content, one of them quantized, with shapes that every screen can show.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Model, text } from '../../src/kit.js'
import { convert, modelOf } from '../../src/node.js'

export interface Folder {
  at(name: string): string
  remove(): void
}

export function makeFolder(): Folder {
  const folder = mkdtempSync(join(tmpdir(), 'tare-viewer-'))
  return { at: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Values that are neither constant nor random, the same every time. */
export const waves = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 0.37 + seed) * Math.cos(i * 0.011 * seed) * 0.1)

export async function sampleModel(layers = 3): Promise<Model> {
  const tensors: Record<string, { shape: number[]; data: Float32Array }> = {}
  const add = (name: string, shape: number[]): void => {
    const count = shape.reduce((product, dim) => product * dim, 1)
    tensors[name] = { shape, data: waves(count, Object.keys(tensors).length + 1) }
  }
  add('embed.weight', [320, 256])
  for (let i = 0; i < layers; i++) {
    add(`layers.${i}.attn.weight`, [256, 256])
    add(`layers.${i}.mlp.weight`, [512, 256])
    add(`layers.${i}.norm.weight`, [256])
  }
  const metadata = new Map([
    ['title', text('a made-up model')],
    ['general.architecture', text('none')],
  ])
  return { ...(await modelOf({ tensors })), metadata }
}

/** `a.safetensors`, and `b.gguf` with the same weights as q4_k. */
export async function writePair(folder: Folder): Promise<readonly [a: string, b: string]> {
  const [a, b] = [folder.at('a.safetensors'), folder.at('b.gguf')]
  await convert(await sampleModel(), a)
  await convert(await sampleModel(), b, { quantize: 'q4_k' })
  return [a, b]
}

/** Safetensors with a header of our own; the weights are whatever `size` leaves, zeros in a sparse file. */
export function safetensorsHeader(header: string): Buffer {
  const bytes = Buffer.from(header)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(bytes.byteLength))
  return Buffer.concat([length, bytes])
}

export function writeSafetensors(path: string, header: string, data = new Uint8Array()): void {
  writeFileSync(path, Buffer.concat([safetensorsHeader(header), data]))
}
