import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import { withoutKernels } from '../../../src/kernels/load.js'
import { transpose } from '../../../src/kernels/numbers/transpose.js'
import { whereBitsDiffer } from '../../support/numbers.js'

fc.configureGlobal({ seed: 5 })

/** Both sides with some room between rows, which must stay as it is. */
const jobs = fc.record({
  size: fc.constantFrom(1, 2, 4, 8, 16),
  lines: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 150 })),
  width: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 150 })),
  gap: fc.nat(3),
  targetGap: fc.nat(3),
  spread: fc.constantFrom(1, 1, 2, 3),
  shift: fc.nat(3),
})

describe('transpose', () => {
  it('puts every element where it belongs, with and without kernels, in windows and elsewhere', () => {
    const windows = [takeWindow(2 << 20), takeWindow(2 << 20)] as const
    fc.assert(
      fc.property(jobs, ({ size, lines, width, gap, targetGap, spread, shift }) => {
        const step = spread * size
        const [pitch, targetPitch] = [(width + gap) * size, lines * step + targetGap * size]
        const [sourceSize, targetSize] = [lines * pitch + shift, width * targetPitch + shift]
        const source = Uint8Array.from({ length: sourceSize }, (_, i) => (i * 31 + Math.floor(i / 256)) % 251)
        const wanted = new Uint8Array(targetSize).fill(255)
        for (let line = 0; line < lines; line++) {
          for (let column = 0; column < width; column++) {
            const from = source.subarray(shift + line * pitch + column * size).subarray(0, size)
            wanted.set(from, shift + column * targetPitch + line * step)
          }
        }
        const [sourceWindow, targetWindow] = [windows[0].subarray(0, sourceSize), windows[1].subarray(0, targetSize)]
        sourceWindow.set(source)
        const run = (from: Uint8Array, to: Uint8Array): number => {
          to.fill(255)
          const sides = { source: from, target: to, sourceOffset: shift, targetOffset: shift }
          transpose({ ...sides, size, pitch, targetPitch, step, lines, width })
          return whereBitsDiffer(to, wanted)
        }
        expect(run(sourceWindow, targetWindow)).toBe(-1)
        expect(run(source, targetWindow)).toBe(-1)
        expect(withoutKernels(() => run(sourceWindow, targetWindow))).toBe(-1)
        expect(withoutKernels(() => run(source, new Uint8Array(targetSize)))).toBe(-1)
      }),
      { numRuns: 150 },
    )
    windows.forEach(releaseWindow)
  })

  it('refuses sides that are too small', () => {
    const offsets = { sourceOffset: 0, targetOffset: 0 }
    const turn = { ...offsets, size: 4, pitch: 40, targetPitch: 80, step: 4, lines: 20, width: 10 }
    const [fitting, target] = [new Uint8Array(800), new Uint8Array(800)]
    expect(() => transpose({ ...turn, source: fitting.subarray(1), target })).toThrow(RangeError)
    expect(() => transpose({ ...turn, source: fitting, target: target.subarray(1) })).toThrow(RangeError)
    expect(() => transpose({ ...turn, source: fitting, target, targetOffset: 1 })).toThrow(RangeError)
    expect(() => transpose({ ...turn, source: fitting, target })).not.toThrow()
  })
})
