// Rows to columns: by the compiled kernel when both sides lie in the arena, by its plain twin otherwise.
import { requireBytes } from '../../bytes/views.js'
import { numbersModule } from './module.js'

export interface Transposition {
  /** Bytes per element: 1, 2, 4, 8 or 16. */
  readonly size: number
  readonly source: Uint8Array
  readonly target: Uint8Array
  /** Where the first element lies in each. */
  readonly sourceOffset: number
  readonly targetOffset: number
  /** Bytes from row to row. */
  readonly pitch: number
  readonly targetPitch: number
  /** Bytes from element to element of a target row. */
  readonly step: number
  /** Rows of the source, and elements in each. */
  readonly lines: number
  readonly width: number
}

/** Element `column` of source row `line` becomes element `line` of target row `column`. The two sides must not overlap. */
export function transpose(job: Transposition): void {
  const { size, source, target, sourceOffset, targetOffset, pitch, targetPitch, step, lines, width } = job
  if (lines === 0 || width === 0) return
  requireBytes(source, sourceOffset + (lines - 1) * pitch + width * size)
  requireBytes(target, targetOffset + (width - 1) * targetPitch + (lines - 1) * step + size)
  const module = numbersModule()
  if (source.buffer === module?.buffer && target.buffer === module.buffer) {
    const [from, to] = [source.byteOffset + sourceOffset, target.byteOffset + targetOffset]
    module.run.transpose(size, from, pitch, to, targetPitch, step, lines, width)
  } else transposePlain(job)
}

type Words = Uint8Array | Uint16Array | Uint32Array

/** Moves words of up to four bytes. As integers, not floats: a NaN must not change. */
function transposePlain(job: Transposition): void {
  const { size, source, target, sourceOffset, targetOffset, pitch, targetPitch, step, lines, width } = job
  const [start, targetStart] = [source.byteOffset + sourceOffset, target.byteOffset + targetOffset]
  const places = [start, targetStart, pitch, targetPitch, step, size]
  const word = [4, 2].find((each) => places.every((place) => place % each === 0)) ?? 1
  const from = wordsAt(source.buffer, start, source.byteLength - sourceOffset, word)
  const to = wordsAt(target.buffer, targetStart, target.byteLength - targetOffset, word)
  const [linePitch, rowPitch, elementPitch] = [pitch / word, targetPitch / word, step / word]
  const perElement = size / word
  for (let first = 0; first < lines; first += tile) {
    const end = Math.min(first + tile, lines)
    for (let column = 0; column < width * perElement; column++) {
      const k = column % perElement
      let at = ((column - k) / perElement) * rowPitch + first * elementPitch + k
      let source = first * linePitch + column
      for (let line = first; line < end; line++) {
        to[at] = from[source]!
        at += elementPitch
        source += linePitch
      }
    }
  }
}

/** Lines at a time: each is read sequentially, and writes fill whole cache lines. */
const tile = 64

function wordsAt(buffer: ArrayBufferLike, offset: number, length: number, word: number): Words {
  const count = Math.floor(length / word)
  if (word === 4) return new Uint32Array(buffer, offset, count)
  return word === 2 ? new Uint16Array(buffer, offset, count) : new Uint8Array(buffer, offset, count)
}
