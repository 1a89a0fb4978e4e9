// The whole file as a strip coloured by what its bytes are. It is the scroll bar of the hex view: a place in it is a place in the file,
// however large that is.
import { useEffect, useRef } from 'preact/hooks'
import { byteKinds } from '../../engine/rooms/bytes/byte-kinds.js'
import { hexOffset, sizeLabel } from '../../parts/format.js'
import { useAnswer } from '../../parts/use-answer.js'
import { useSize } from '../../parts/use-size.js'
import { isDark } from '../../state/theme.js'
import { kindColor } from './kinds.js'

interface StripProps {
  readonly model: number
  readonly file: number
  readonly size: number
  /** The first and the last byte in view. */
  readonly view: readonly [number, number]
  readonly at: number
  readonly onGo: (offset: number) => void
}

export function Strip({ model, file, size, view, at, onGo }: StripProps) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = Math.min(2048, useSize(box)?.width ?? 0)
  const { answer } = useAnswer('byteStrip', width > 0 ? { model, file, count: width } : undefined)
  const dark = isDark()
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !answer) return
    const image = new ImageData(answer.length, 1)
    for (const [i, kind] of answer.entries()) image.data.set([...kindColor(byteKinds[kind]!, dark), 255], 4 * i)
    context.putImageData(image, 0, 0)
  }, [answer, dark])
  const offsetAt = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return Math.min(size - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * size)))
  }
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -16, PageDown: 16 }[event.key]
    const ends = { Home: 0, End: size - 1 }[event.key]
    if (step === undefined && ends === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onGo(ends ?? Math.min(size - 1, Math.max(0, at + Math.round((step! * size) / 256))))
  }
  const percent = (offset: number): string => `${(100 * offset) / Math.max(1, size)}%`
  return (
    <div
      ref={box}
      class="strip"
      role="slider"
      tabIndex={0}
      aria-label="Place in the file"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, size - 1)}
      aria-valuenow={at}
      aria-valuetext={`${hexOffset(at)} of ${sizeLabel(size)}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        onGo(offsetAt(event))
      }}
      onPointerMove={(event) => event.buttons > 0 && onGo(offsetAt(event))}
      onKeyDown={move}
    >
      <canvas ref={canvas} width={Math.max(1, answer?.length ?? 1)} height={1} role="presentation" />
      <span class="seen" style={{ left: percent(view[0]), width: percent(view[1] - view[0]) }} />
    </div>
  )
}
