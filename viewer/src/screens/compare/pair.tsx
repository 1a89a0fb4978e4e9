// One tensor of both models, at the place where they are farthest apart: A, B and B − A with one cursor. Blinking shows B in the place of A,
// where the eye sees the smallest change.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { colorMapNamed, makeScale, type TensorDifference } from 'tare/kit'
import { useKeys } from '../../app/keys.js'
import type { ScreenProps } from '../../app/screens.js'
import type { Crop } from '../../engine/rooms/compare.js'
import { messageOf } from '../../engine/wire.js'
import { CropMaps, useCrop } from '../../parts/crop-maps.js'
import { valueText } from '../../parts/format.js'
import { Name } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import type { Cell } from '../../parts/value-map.js'
import { announce } from '../../state/announce.js'

interface PairProps {
  readonly a: ScreenProps['model']
  readonly b: ScreenProps['model']
  readonly difference: TensorDifference
  /** By somebody: then it comes into view. */
  readonly isChosen: boolean
}

const size = 128
const blinkTime = 500
const colors = colorMapNamed('blue-orange')!

export function Pair({ a, b, difference, isChosen }: PairProps) {
  const shape = difference.a!.shape.map(Number)
  const [rows, columns] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1]
  const worst = difference.values?.maxAbsAt
  const place = useCrop(rows, columns, { side: size, middle: worst ?? undefined })
  const crop: Crop = { ...place.crop, fixed: worst?.slice(0, -2) ?? [] }
  const [nameA, nameB] = [difference.a!.name, difference.b!.name]
  const { answer, error } = useAnswer('compareCrop', { a: a.id, b: b.id, nameA, nameB, crop })
  const [isBlinking, setBlinking] = useState(false)
  const isOther = useBlink(isBlinking)
  const keys = useMemo(
    () => [{ keys: ['b'], title: 'Blink: show A and B in turn', run: () => setBlinking((before) => !before) }],
    [],
  )
  useKeys('Compare', keys)
  const maps = useMemo(() => {
    if (!answer) return []
    const values = { scale: makeScale('sigma', answer.a), colors }
    const error = { scale: makeScale('sigma', answer.difference), colors: colorMapNamed('purple-green')! }
    return [
      { title: 'A', values: answer.a, ...values },
      { title: 'B', values: answer.b, ...values },
      { title: 'B − A', values: answer.difference, ...error },
    ]
  }, [answer])
  const [shownA, shownB, apart] = maps
  const shown = !isBlinking || !apart ? maps : [isOther ? shownB! : shownA!, apart]
  const say = (cell: Cell): void => {
    if (!answer) return
    const at = cell.row * answer.columns + cell.column
    announce(
      `row ${crop.row + cell.row}, column ${crop.column + cell.column}: A ${valueText(answer.a[at])}, B ${valueText(answer.b[at])}`,
    )
  }
  const section = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isChosen) section.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <section class="pair" ref={section}>
      <header>
        <h2>
          <Name text={difference.name} />
        </h2>
        <label>
          <input type="checkbox" checked={isBlinking} onChange={(event) => setBlinking(event.currentTarget.checked)} />{' '}
          Blink (b)
        </label>
      </header>
      {error !== undefined && <p class="faint">{messageOf(error)}</p>}
      <CropMaps
        model={a.id}
        name={nameA}
        rows={rows}
        columns={columns}
        place={place}
        step={1}
        maps={shown}
        onCursor={say}
      >
        {answer && (
          <p class="faint">{`RMSE ${valueText(answer.rmse)}, largest difference ${valueText(answer.maxAbs)} in this part`}</p>
        )}
      </CropMaps>
    </section>
  )
}

function useBlink(isOn: boolean): boolean {
  const [isOther, setOther] = useState(false)
  useEffect(() => {
    setOther(false)
    if (!isOn) return
    const timer = setInterval(() => setOther((before) => !before), blinkTime)
    return () => clearInterval(timer)
  }, [isOn])
  return isOther
}
