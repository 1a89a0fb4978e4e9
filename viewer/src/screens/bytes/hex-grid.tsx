// The bytes in view, sixteen in a row, coloured by what they are. There is no page to scroll: a browser ends at some 2^24 pixels, which is
// 14 MB of bytes. The first row in view is a number, and wheel, keys, touch and the strip change it.
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { byteKinds } from '../../engine/rooms/bytes/byte-kinds.js'
import type { FieldRow } from '../../engine/rooms/bytes/byte-map.js'
import { useAnswer } from '../../parts/use-answer.js'
import { useSize } from '../../parts/use-size.js'

export const rowBytes = 16
const rowHeight = 22

interface HexGridProps {
  readonly model: number
  readonly file: number
  readonly size: number
  /** The number of the first row in view. */
  readonly top: number
  readonly at: number
  /** Bytes to mark: a hit, a field. */
  readonly marked: readonly [from: number, to: number]
  readonly onTop: (row: number) => void
  readonly onGo: (offset: number) => void
  readonly onRows: (count: number) => void
}

export function HexGrid({ model, file, size, top, at, marked, onTop, onGo, onRows }: HexGridProps) {
  const box = useRef<HTMLDivElement>(null)
  const height = useSize(box)?.height ?? 0
  const count = Math.max(1, Math.floor(height / rowHeight))
  useEffect(() => onRows(count), [count, onRows])
  const from = Math.min(top * rowBytes, Math.max(0, size - 1))
  const length = Math.max(0, Math.min(size - from, count * rowBytes))
  const { answer: read } = useAnswer('byteRead', { model, file, offset: from, length })
  const { answer: rows } = useAnswer('byteRows', { model, file, from, to: from + length })
  // An answer for the rows before would show wrong bytes.
  const bytes = read && read.byteLength === length ? read : undefined
  const kinds = useMemo(() => kindsOf(rows ?? [], from, length), [rows, from, length])
  useTouchScroll(box, top, onTop)
  const wheel = (event: WheelEvent): void => {
    event.preventDefault()
    onTop(top + Math.sign(event.deltaY) * Math.max(1, Math.round(Math.abs(event.deltaY) / rowHeight)))
  }
  return (
    <div
      ref={box}
      class="hex"
      role="grid"
      aria-label="Bytes"
      aria-rowcount={Math.ceil(size / rowBytes)}
      aria-colcount={rowBytes}
      tabIndex={0}
      aria-activedescendant={at >= from && at < from + length ? `byte-${at}` : undefined}
      onWheel={wheel}
    >
      {Array.from({ length: Math.ceil(length / rowBytes) }, (_, i) => {
        const offset = from + i * rowBytes
        const inRow = Math.min(rowBytes, from + length - offset)
        return (
          <div class="hex-row" role="row" key={offset} aria-rowindex={top + i + 1}>
            <span class="offset" role="rowheader">
              {offset.toString(16).padStart(8, '0')}
            </span>
            {Array.from({ length: inRow }, (_, j) => {
              const place = offset + j
              const byte = bytes?.[place - from]
              return (
                <span
                  key={place}
                  id={`byte-${place}`}
                  role="gridcell"
                  aria-selected={place === at}
                  class={cellClass(place, kinds[place - from]!, at, marked)}
                  onPointerDown={() => onGo(place)}
                >
                  {byte === undefined ? '··' : byte.toString(16).padStart(2, '0')}
                </span>
              )
            })}
            <span class="text" role="gridcell">
              {bytes && textOf(bytes.subarray(offset - from, offset - from + inRow))}
            </span>
          </div>
        )
      })}
    </div>
  )
}

/** Per byte: the kind, and whether its field is the second, fourth, … in view, so that neighbours can be told apart. */
function kindsOf(rows: readonly FieldRow[], from: number, length: number): readonly string[] {
  const kinds = new Array<string>(length).fill('')
  for (const [i, { offset, length: long, kind }] of rows.entries()) {
    const name = `${byteKinds.includes(kind) ? kind : 'gap'}${i % 2 === 1 ? ' odd' : ''}`
    kinds.fill(name, Math.max(0, offset - from), Math.min(length, offset + long - from))
  }
  return kinds
}

function cellClass(place: number, kind: string, at: number, [from, to]: readonly [number, number]): string {
  return `byte ${kind}${place >= from && place < to ? ' marked' : ''}${place === at ? ' at' : ''}${place % 8 === 0 ? ' eighth' : ''}`
}

const textOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('')

function useTouchScroll(
  box: { readonly current: HTMLDivElement | null },
  top: number,
  onTop: (row: number) => void,
): void {
  const latest = useRef({ top, onTop })
  latest.current = { top, onTop }
  useEffect(() => {
    const element = box.current
    if (!element) return
    let start: { y: number; top: number } | undefined
    const down = (event: TouchEvent): void => {
      start = { y: event.touches[0]!.clientY, top: latest.current.top }
    }
    const move = (event: TouchEvent): void => {
      if (!start || event.touches.length !== 1) return
      event.preventDefault()
      latest.current.onTop(start.top + Math.round((start.y - event.touches[0]!.clientY) / rowHeight))
    }
    element.addEventListener('touchstart', down, { passive: true })
    element.addEventListener('touchmove', move, { passive: false })
    return () => {
      element.removeEventListener('touchstart', down)
      element.removeEventListener('touchmove', move)
    }
  }, [box])
}
