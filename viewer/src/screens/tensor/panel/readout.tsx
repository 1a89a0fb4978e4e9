// The text twin of the map: what lies under the cursor, also read aloud.
import { useEffect } from 'preact/hooks'
import type { CellFacts } from '../../../engine/rooms/tensor/tiles.js'
import { askTensor } from '../../../engine/tensor-workers.js'
import { priorities } from '../../../engine/wire.js'
import { hexOffset, valueText } from '../../../parts/format.js'
import { announce } from '../../../state/announce.js'
import { goTo } from '../../../state/location.js'
import { otherAxes } from '../settings.js'
import type { PanelProps } from './panel.js'

/** A pointer crosses many values that nobody means. */
const patience = 60

interface ReadoutProps extends PanelProps {
  readonly facts: CellFacts | undefined
  onFacts(facts: CellFacts | undefined): void
}

export function Readout({ info, plane, cursor, facts, onFacts: setFacts, onShow }: ReadoutProps) {
  const place = cursor && indexOf(cursor.row, cursor.column)
  useEffect(() => {
    setFacts(undefined)
    if (!cursor || info.problem !== undefined) return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      askTensor(
        'cell',
        { tensor: info.ref, plane, ...cursor },
        { signal: abort.signal, priority: priorities.view },
      ).then(
        (found) => {
          setFacts(found)
          announce(`${place?.join(', ')}: ${valueText(found.value)}`)
        },
        () => {},
      )
    }, patience)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [cursor?.row, cursor?.column, info, plane])

  /** On all axes of the tensor. */
  function indexOf(row: number, column: number): readonly number[] {
    const { shape } = info.ref
    if (shape.length < 2 || !plane.axes) return shape.length === 0 ? [] : [column]
    const index = shape.map(() => 0)
    index[plane.axes[0]] = row
    index[plane.axes[1]] = column
    for (const [i, axis] of otherAxes(shape, plane.axes).entries()) index[axis] = plane.fixed?.[i] ?? 0
    return index
  }

  const offset = place && byteOffset(info, place)
  return (
    <section class="readout-box" id="readout">
      <dl>
        <div>
          <dt>Index</dt>
          <dd>{place ? `[${place.join(', ')}]` : '–'}</dd>
        </div>
        <div>
          <dt>Value</dt>
          <dd class="strong">{facts ? exact(facts.value) : '–'}</dd>
        </div>
        {info.hasCodes && (
          <>
            <div>
              <dt>Code</dt>
              <dd>{valueText(facts?.code)}</dd>
            </div>
            <div>
              <dt>Scale</dt>
              <dd>
                {facts?.scale === undefined ? '–' : valueText(facts.scale)}
                {facts?.offset !== undefined &&
                  ` × code ${facts.offset < 0 ? '−' : '+'} ${valueText(Math.abs(facts.offset))}`}
              </dd>
            </div>
          </>
        )}
        <div>
          <dt>Bytes at</dt>
          <dd>
            {offset === undefined ? (
              '–'
            ) : (
              <button type="button" class="link" onClick={() => goTo('bytes', undefined, { at: hexOffset(offset) })}>
                {hexOffset(offset)}
              </button>
            )}
          </dd>
        </div>
      </dl>
      {info.problem === undefined && <GoTo plane={plane} onShow={onShow} />}
    </section>
  )
}

/** A row and a column, or for a vector the column alone. */
function GoTo({ plane, onShow }: Pick<PanelProps, 'plane' | 'onShow'>) {
  const show = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const numbers = String(new FormData(form).get('place')).match(/\d+/g)?.map(Number) ?? []
    const column = numbers.at(-1)
    if (column === undefined) return
    const row = numbers.length > 1 ? numbers.at(-2)! : 0
    onShow({ row: Math.min(row, plane.rows - 1), column: Math.min(column, plane.columns - 1) })
    form.querySelector('input')?.blur()
  }
  return (
    <form onSubmit={show}>
      <input
        name="place"
        class="goto"
        placeholder="Go to row, column"
        aria-label="Go to row, column"
        autocomplete="off"
      />
      <button type="submit">Go</button>
    </form>
  )
}

/** Nine digits tell every f32 from its neighbours. */
const exact = (value: number): string =>
  Number.isFinite(value) ? String(Number(value.toPrecision(9))).replace('-', '−') : valueText(value)

/** Where the block of a value begins, or the value itself. */
function byteOffset(
  { offset, group, ref: { shape } }: PanelProps['info'],
  index: readonly number[],
): number | undefined {
  if (offset === undefined || !group) return undefined
  let element = 0
  for (const [axis, dim] of shape.entries()) element = element * dim + (index[axis] ?? 0)
  return offset + Math.floor(element / group.elements) * group.bytes
}
