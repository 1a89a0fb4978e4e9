// The file byte by byte: a strip of the whole, the bytes in view, the fields they belong to, and what they mean in every type.

import { useCallback, useMemo, useState } from 'preact/hooks'
import { useKeys } from '../../app/keys.js'
import type { AnyScreenProps } from '../../app/screens.js'
import { messageOf } from '../../engine/wire.js'
import { Command } from '../../parts/command.js'
import { hexOffset, sizeLabel } from '../../parts/format.js'
import { visible } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { announce } from '../../state/announce.js'
import { address, setQuery } from '../../state/location.js'
import { FieldTree } from './field-tree.js'
import { FindBytes, focusField, GoTo } from './find.js'
import { HexGrid, rowBytes } from './hex-grid.js'
import { kindTitles } from './kinds.js'
import { Strip } from './strip.js'
import { Values } from './values.js'
import './bytes.css'

export default function Bytes({ model }: AnyScreenProps) {
  const { answer: files, error } = useAnswer('byteFiles', { model: model.id })
  const { query } = address.value
  const file = Math.min(wholeNumber(query.file), Math.max(0, (files?.length ?? 1) - 1))
  const shown = files?.[file]
  if (error !== undefined) return <p class="waiting">{messageOf(error)}</p>
  if (!shown) return <p class="waiting">Reading…</p>
  return (
    <FileBytes key={`${model.id} ${file}`} model={model} file={file} size={shown.size}>
      {files.length > 1 && (
        <label>
          File{' '}
          <select
            value={String(file)}
            onChange={(event) => setQuery({ file: event.currentTarget.value, at: undefined, to: undefined })}
          >
            {files.map(({ name, size }, i) => (
              <option key={name} value={String(i)}>
                {visible(name)} ({sizeLabel(size)})
              </option>
            ))}
          </select>
        </label>
      )}
    </FileBytes>
  )
}

const wholeNumber = (text: string | undefined): number => (text && /^\d{1,6}$/.test(text) ? Number(text) : 0)

interface FileBytesProps extends AnyScreenProps {
  readonly file: number
  readonly size: number
  readonly children?: unknown
}

function FileBytes({ model, file, size, children }: FileBytesProps) {
  const { query } = address.value
  const at = Math.min(offsetIn(query.at), Math.max(0, size - 1))
  const marked = useMemo(() => [at, Math.max(at + 1, offsetIn(query.to))] as const, [at, query.to])
  const [rows, setRows] = useState(1)
  const [wantedTop, setTop] = useState(() => Math.max(0, Math.floor(at / rowBytes) - 4))
  const lastTop = Math.max(0, Math.ceil(size / rowBytes) - rows)
  const top = Math.min(Math.max(0, wantedTop), lastTop)
  const go = useCallback(
    (offset: number, length = 1): void => {
      const place = Math.min(Math.max(0, offset), size - 1)
      setQuery({ at: hexOffset(place), to: length > 1 ? hexOffset(place + length) : undefined })
      announce(`byte ${hexOffset(place)}`)
    },
    [size],
  )
  // A jump from elsewhere: the byte comes into view.
  const atRow = Math.floor(at / rowBytes)
  const [seenAt, setSeenAt] = useState(at)
  if (seenAt !== at) {
    setSeenAt(at)
    if (atRow < top || atRow >= top + rows) setTop(Math.max(0, atRow - Math.floor(rows / 3)))
  }
  useByteKeys(at, rows, go)
  const { answer: here } = useAnswer('byteRows', { model: model.id, file, from: at, to: at + 1 })
  const field = here?.[0]
  const place = { model: model.id, file }
  return (
    <div class="bytes">
      <h1 class="spoken">Bytes</h1>
      <header>
        {children}
        <GoTo {...place} onGo={go} />
        <FindBytes {...place} at={at} onGo={go} />
      </header>
      <Strip
        {...place}
        size={size}
        view={[top * rowBytes, Math.min(size, (top + rows) * rowBytes)]}
        at={at}
        onGo={go}
      />
      <div class="here">
        <p class="path" aria-live="polite">
          <code>{hexOffset(at)}</code> <strong>{field ? visible(field.path || 'not claimed by any field') : ''}</strong>{' '}
          {field?.value !== undefined && <span class="faint">{visible(field.value)}</span>}
        </p>
        <Legend size={size} />
      </div>
      <FieldTree {...place} size={size} at={at} onGo={go} />
      <HexGrid {...place} size={size} top={top} at={at} marked={marked} onTop={setTop} onGo={go} onRows={setRows} />
      <aside>
        <Values {...place} at={at} />
        <Command words={['tare', 'map', '--at', hexOffset(at), '--hex', model.argument]} />
      </aside>
    </div>
  )
}

function offsetIn(text: string | undefined): number {
  const offset = text && /^(0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text) : 0
  return Number.isSafeInteger(offset) ? offset : 0
}

function useByteKeys(at: number, rows: number, go: (offset: number) => void): void {
  const bindings = useMemo(() => {
    const steps: Readonly<Record<string, number>> = {
      ...{ ArrowLeft: -1, h: -1, ArrowRight: 1, l: 1 },
      ...{ ArrowUp: -rowBytes, k: -rowBytes, ArrowDown: rowBytes, j: rowBytes },
      ...{ PageUp: -rows * rowBytes, PageDown: rows * rowBytes },
      ...{ Home: Number.NEGATIVE_INFINITY, End: Number.MAX_SAFE_INTEGER },
    }
    return [
      {
        keys: Object.keys(steps),
        shown: 'arrows, h j k l',
        title: 'Move by a byte or a row; Page and End move further',
        run: (key: string) => go(Math.max(0, at + steps[key]!)),
      },
      { keys: ['g'], title: 'Go to an offset, field or tensor', run: () => focusField('goto') },
      {
        keys: ['n', 'N'],
        title: 'Next or previous hit',
        run: (key: string) => focusField(key === 'n' ? 'next' : 'previous'),
      },
    ]
  }, [at, rows, go])
  useKeys('Bytes', bindings)
}

function Legend({ size }: { readonly size: number }) {
  return (
    <ul class="legend" aria-label="Colours">
      {(['field', 'data', 'padding', 'gap'] as const).map((kind) => (
        <li key={kind}>
          <span class={`swatch ${kind}`} aria-hidden="true" /> {kindTitles[kind]}
        </li>
      ))}
      <li class="faint">{sizeLabel(size)} in all</li>
    </ul>
  )
}
