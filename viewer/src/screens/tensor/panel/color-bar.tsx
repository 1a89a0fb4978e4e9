// What the colours mean.
import { useEffect, useRef } from 'preact/hooks'
import { colorMapNamed, colorsFor, type Scale } from 'tare/kit'
import { paletteOf } from '../../../colors/paint.js'
import { valueText } from '../../../parts/format.js'

export function ColorBar({ scale, colors }: { readonly scale: Scale; readonly colors: string | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const map = (colors && colorMapNamed(colors)) || colorsFor(scale)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const image = new ImageData(256, 1)
    new Uint32Array(image.data.buffer).set(paletteOf(map).colors)
    context.putImageData(image, 0, 0)
  }, [map])
  const labels = scale.high > scale.low ? [0, 0.5, 1].map((at) => scale.valueAt(at)) : [scale.low]
  return (
    <section class="color-bar" aria-label={`Colours from ${valueText(scale.low)} to ${valueText(scale.high)}`}>
      <canvas ref={canvas} width={256} height={1} />
      <div class="labels">
        {labels.map((value, i) => (
          <span key={`${i} ${value}`}>{valueText(Number(value.toPrecision(3)))}</span>
        ))}
      </div>
    </section>
  )
}
