// The vocabulary: for each token the number of its bytes and the bytes, and in later files a score.
import type { Cursor, WindowReader } from '../../bytes/index.js'
import { decodeLossy, decodeUtf8 } from '../../bytes/index.js'
import type { Report } from '../../errors/index.js'
import type { MetaList, MetaValue } from '../../model/index.js'
import { codes } from './codes.js'
import { cursorAt } from './window.js'

export interface Tokens {
  readonly texts: MetaList
  readonly scores?: MetaList
  readonly end: number
}

/** No vocabulary and no token is nearly as large. */
const maxTokens = 1 << 22
const maxLength = 1 << 16

export async function readTokens(
  window: WindowReader,
  start: number,
  { stated, hasScores }: { readonly stated: number | undefined; readonly hasScores: boolean },
  report: Report,
  extents: Cursor['extents'],
): Promise<Tokens> {
  let at = start
  let count = stated
  if (count === undefined) {
    const cursor = await cursorAt(window, at, 4, report, { extents, path: ['vocabulary'] })
    count = cursor.i32('count')
    at += 4
  }
  const [first, left, smallest] = [at, window.source.size - at, hasScores ? 8 : 4]
  const refuse = (offset: number, path: string, message: string): never =>
    report.fail(codes.vocabulary, { offset, length: 4, path, message })
  if (count < 0 || count > Math.min(maxTokens, left / smallest)) {
    refuse(stated === undefined ? start : first, 'vocabulary', `${count} tokens, ${left} bytes are left`)
  }
  const starts: number[] = []
  const ends: number[] = []
  for (let id = 0; id < count; id++) {
    const path = `vocabulary[${id}]`
    if (window.end - at < 4) refuse(at, path, `${window.end - at} bytes are left of ${count - id} tokens`)
    if (!window.holds(at, 4)) await window.reach(at, 4)
    const length = window.view.getUint32(at - window.offset, true)
    const end = at + 4 + length
    if (length > maxLength || end + smallest - 4 > window.end)
      refuse(at, path, `a token of ${length} bytes, ${window.end - at - 4} are left`)
    starts.push(at + 4)
    ends.push(end)
    at = end + smallest - 4
  }
  if (at > window.offset + window.bytes.byteLength) await window.reach(at - 4, 4)
  const length = at - first
  if (length > 0)
    extents?.add({
      file: report.file,
      offset: first,
      length,
      path: 'vocabulary',
      kind: 'field',
      value: `${count} tokens`,
    })
  const bytes = window.slice(first, length)
  const spans = (from = 0, to = count): { start: number; end: number }[] =>
    starts.slice(from, to).map((start, i) => ({ start: start - first, end: ends[from + i]! - first }))
  const texts = lazyList('str', count, (from, to) =>
    spans(from, to).map(({ start, end }) => textOf(bytes.subarray(start, end))),
  )
  if (!hasScores) return { texts, end: at }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const scores = lazyList('f32', count, (from, to) => spans(from, to).map(({ end }) => scoreOf(view, end)))
  return { texts, scores, end: at }
}

function lazyList(item: 'str' | 'f32', length: number, slice: (start?: number, end?: number) => MetaValue[]): MetaList {
  return { type: 'array', item, length, values: () => slice(), slice }
}

function textOf(bytes: Uint8Array): MetaValue {
  const value = decodeUtf8(bytes)
  return value === undefined ? { type: 'str', value: decodeLossy(bytes), bytes } : { type: 'str', value }
}

function scoreOf(view: DataView, at: number): MetaValue {
  const value = view.getFloat32(at, true)
  return Number.isNaN(value) ? { type: 'f32', value, bits: BigInt(view.getUint32(at, true)) } : { type: 'f32', value }
}
