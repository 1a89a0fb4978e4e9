// Complex numbers: the real part, then the imaginary part. They can be shown, but not decoded to real numbers.
import { failWith, usageCodes } from '../errors/index.js'
import { type DType, plainLayout } from './dtype.js'
import { f16, f32, f64 } from './floats.js'

function complex<Id extends string>(id: Id, part: DType): DType<Id> {
  const refuse = (): never =>
    failWith(usageCodes['no-codec'], { file: '', message: `${id} is complex and has no real values to decode` })
  return {
    id,
    kind: 'complex',
    ...plainLayout(part.group.bytes * 2),
    part,
    codec: {
      toF32: refuse,
      toF64: refuse,
      element(source, index) {
        const [re, im] = [2 * index, 2 * index + 1].map((at) => part.codec!.element(source, at) as number) as [
          number,
          number,
        ]
        return { re, im }
      },
    },
  }
}

export const c32 = complex('c32', f16)
export const c64 = complex('c64', f32)
export const c128 = complex('c128', f64)

export const complexes = [c32, c64, c128] as const
