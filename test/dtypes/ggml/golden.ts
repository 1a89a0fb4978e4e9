// What ggml's own quantizers and decoders make of known input.
import { readFileSync } from 'node:fs'
import { fixturePath } from '../../support/fixtures.js'

export interface GoldenType {
  readonly name: string
  readonly dtype: string
  readonly ggmlType: number
  readonly blockSize: number
  readonly typeSize: number
  readonly rows: number
  readonly cols: number
  readonly src: { readonly file: string }
  readonly quantized: { readonly file: string }
  readonly dequantized: { readonly file: string }
  readonly rmse: number
}

export const golden = (
  JSON.parse(readFileSync(fixturePath('ggml', 'manifest.json'), 'utf8')) as { types: GoldenType[] }
).types

export const goldenBytes = (part: { readonly file: string }): Uint8Array =>
  new Uint8Array(readFileSync(fixturePath('ggml', part.file)))

export function goldenFloats(part: { readonly file: string }): Float32Array {
  const bytes = goldenBytes(part)
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}
