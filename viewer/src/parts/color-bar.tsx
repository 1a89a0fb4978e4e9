// What the colours of a map mean.
import { useEffect, useRef } from 'preact/hooks'
import type { ColorMap, Scale } from 'tare/kit'
import { paletteOf } from '../colors/paint.js'
import { valueText } from './format.js'
import './color-bar.css'

export function ColorBar({ scale, colors }: { readonly scale: Scale; readonly colors: ColorMap }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const image = new ImageData(256, 1)
    new Uint32Array(image.data.buffer).set(paletteOf(colors).colors)
    context.putImageData(image, 0, 0)
  }, [colors])
  const labels = scale.high > scale.low ? [0, 0.5, 1].map((at) => scale.valueAt(at)) : [scale.low]
  return (
    <div class="color-bar" role="img" aria-label={`Colours from ${valueText(scale.low)} to ${valueText(scale.high)}`}>
      <canvas ref={canvas} width={256} height={1} />
      <div class="labels">
        {labels.map((value, i) => (
          <span key={`${i} ${value}`}>{valueText(Number(value.toPrecision(3)))}</span>
        ))}
      </div>
    </div>
  )
}
