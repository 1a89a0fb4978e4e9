// Tensors that the reference program quantized, with the values they were made from.
import { readFileSync } from 'node:fs'
import { fixtureBytes, fixturePath } from '../../support/fixtures.js'

interface Manifest {
  readonly files: readonly {
    readonly file: string
    readonly options?: string
    readonly origin: string
    readonly tensors?: readonly {
      readonly name: string
      readonly dtype: string
      readonly shape: readonly number[]
      readonly data_offset: number
      readonly data_size: number
      readonly source_f32?: string
    }[]
    readonly quant_records?: readonly { readonly min_clip: number; readonly max_clip: number }[]
  }[]
}

export interface GoldenTensor {
  readonly label: string
  readonly dtype: string
  readonly shape: readonly [number, number]
  readonly clip: readonly [number, number] | undefined
  readonly values: Float32Array
  readonly payload: Uint8Array
  readonly record: { readonly min_clip: number; readonly max_clip: number } | undefined
}

export function goldenTensors(): GoldenTensor[] {
  const manifest = JSON.parse(readFileSync(fixturePath('mcf', 'manifest.json'), 'utf8')) as Manifest
  return manifest.files.flatMap(({ file, options, tensors, quant_records: records }) =>
    (tensors ?? []).flatMap((tensor, index) => {
      const { name, dtype, shape, data_offset: offset, data_size: size, source_f32: source } = tensor
      if (source === undefined) return []
      const clip = /min-clip=(\S+) max-clip=(\S+)/.exec(options ?? '')
      return {
        label: `${file} ${name}`,
        dtype,
        shape: shape as readonly [number, number],
        clip: clip ? ([Number(clip[1]), Number(clip[2])] as const) : undefined,
        values: new Float32Array(fixtureBytes('mcf', source).buffer),
        payload: fixtureBytes('mcf', file).subarray(offset, offset + size),
        record: records?.[index],
      }
    }),
  )
}
