// One tensor of both models, at the place where they are farthest apart: A, B and B − A with one cursor. Blinking shows B in the place of A,
// where the eye sees the smallest change.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { colorMapNamed, makeScale, type TensorDifference } from 'tare/kit'
import { useKeys } from '../../app/keys.js'
import type { ScreenProps } from '../../app/screens.js'
import type { Crop } from '../../engine/rooms/compare.js'
import { CropChoice } from '../../parts/crop-choice.js'
import { valueText } from '../../parts/format.js'
import { Name } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { type Cell, ValueMap } from '../../parts/value-map.js'
import { announce } from '../../state/announce.js'

interface PairProps {
  readonly a: ScreenProps['model']
  readonly b: ScreenProps['model']
  readonly difference: TensorDifference
}

const size = 128
const blinkTime = 500

export function Pair({ a, b, difference }: PairProps) {
  const shape = difference.a!.shape.map(Number)
  const [rows, columns] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1]
  const worst = difference.values?.maxAbsAt
  const [corner, setCorner] = useState(() => cornerAround(worst ?? [0, 0], rows, columns))
  const crop: Crop = {
    ...corner,
    height: Math.min(size, rows),
    width: Math.min(size, columns),
    fixed: worst?.slice(0, -2) ?? [],
  }
  const [nameA, nameB] = [difference.a!.name, difference.b!.name]
  const { answer, error } = useAnswer('compareCrop', { a: a.id, b: b.id, nameA, nameB, crop })
  const [cursor, setCursor] = useState<Cell>()
  const [isBlinking, setBlinking] = useState(false)
  const isOther = useBlink(isBlinking)
  const keys = useMemo(
    () => [{ keys: ['b'], title: 'Blink: show A and B in turn', run: () => setBlinking((before) => !before) }],
    [],
  )
  useKeys('Compare', keys)
  const colors = colorMapNamed('blue-orange')!
  const scales = useMemo(
    () => answer && { values: makeScale('sigma', answer.a), difference: makeScale('sigma', answer.difference) },
    [answer],
  )
  const move = (cell: Cell): void => {
    setCursor(cell)
    if (!answer) return
    const at = cell.row * answer.columns + cell.column
    announce(
      `row ${crop.row + cell.row}, column ${crop.column + cell.column}: A ${valueText(answer.a[at])}, B ${valueText(answer.b[at])}`,
    )
  }
  return (
    <section class="pair">
      <header>
        <h2>
          <Name text={difference.name} />
        </h2>
        <label>
          <input type="checkbox" checked={isBlinking} onChange={(event) => setBlinking(event.currentTarget.checked)} />{' '}
          Blink (b)
        </label>
      </header>
      {error !== undefined && <p class="faint">{String(error)}</p>}
      <div class="pair-maps">
        <CropChoice
          model={a.id}
          name={nameA}
          rows={rows}
          columns={columns}
          crop={crop}
          step={1}
          onMove={(row, column) => setCorner({ row, column })}
        />
        {answer && scales && (
          <div class="maps">
            <ValueMap
              title={isOther ? 'B' : 'A'}
              values={isOther ? answer.b : answer.a}
              {...shapeOf(answer)}
              scale={scales.values}
              colors={colors}
              cursor={cursor}
              onCursor={move}
            />
            {!isBlinking && (
              <ValueMap
                title="B"
                values={answer.b}
                {...shapeOf(answer)}
                scale={scales.values}
                colors={colors}
                cursor={cursor}
                onCursor={move}
              />
            )}
            <ValueMap
              title="B − A"
              values={answer.difference}
              {...shapeOf(answer)}
              scale={scales.difference}
              colors={colorMapNamed('purple-green')!}
              cursor={cursor}
              onCursor={move}
            />
          </div>
        )}
      </div>
      {answer && (
        <p class="faint">
          Rows {crop.row} to {crop.row + crop.height - 1}, columns {crop.column} to {crop.column + crop.width - 1}: RMSE{' '}
          {valueText(answer.rmse)}, largest difference {valueText(answer.maxAbs)}
          {cursor && `; at row ${crop.row + cursor.row}, column ${crop.column + cursor.column}`}
        </p>
      )}
    </section>
  )
}

const shapeOf = ({ rows, columns }: { readonly rows: number; readonly columns: number }) => ({ rows, columns })

function cornerAround(at: readonly number[], rows: number, columns: number): { row: number; column: number } {
  const place = (index: number, count: number): number =>
    Math.min(Math.max(0, Math.round(index - size / 2)), Math.max(0, count - size))
  return { row: place(at.at(-2) ?? 0, rows), column: place(at.at(-1) ?? 0, columns) }
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
