// What the Bytes screen asks: the files, the strip, bytes, the fields over them, and where something is.
import { type ByteSource, type MapRow, TareError } from 'tare/kit'
import type { Call } from '../../calls.js'
import type { CallContext, Handlers } from '../../serve.js'
import { findOpened, requireInput } from '../models/opened.js'
import { openInput } from '../models/sources.js'
import { childrenOf, type FieldNode, type FieldRow, fieldRow, rowsIn, stripOf, wholeMap } from './byte-map.js'
import { type ReadValue, readValues } from './byte-values.js'
import { findBytes, parsePattern } from './find-bytes.js'

interface InFile {
  readonly model: number
  readonly file: number
}

export interface Place {
  readonly file: number
  readonly offset: number
  readonly length: number
  readonly path?: string | undefined
}

export interface BytesCalls {
  byteFiles: Call<{ readonly model: number }, readonly { readonly name: string; readonly size: number }[]>
  byteStrip: Call<InFile & { readonly count: number }, Uint8Array>
  byteRead: Call<InFile & { readonly offset: number; readonly length: number }, Uint8Array>
  /** The bytes at a place in every type. */
  byteValues: Call<InFile & { readonly offset: number; readonly isBigEndian: boolean }, readonly ReadValue[]>
  byteRows: Call<InFile & { readonly from: number; readonly to: number }, readonly FieldRow[]>
  byteTree: Call<
    InFile & { readonly parent: string; readonly depth: number; readonly from: number; readonly to: number },
    readonly FieldNode[]
  >
  byteFind: Call<InFile & { readonly text: string; readonly from: number; readonly isBackward: boolean }, number | null>
  bytePlace: Call<InFile & { readonly text: string }, Place | null>
}

export const bytesHandlers: Handlers = {
  byteFiles: async ({ model }: BytesCalls['byteFiles']['ask']) =>
    (await filesOf(model)).map(({ name, size }) => ({ name: name.replace(/^.*[/\\]/, ''), size })),
  byteStrip,
  byteRead,
  byteValues,
  byteRows: async ({ model, file, from, to }: BytesCalls['byteRows']['ask']) =>
    (await rowsIn(model, tensorsOf(model).length, file, [from, to])).slice(0, maxRows).map(fieldRow),
  byteTree,
  byteFind,
  bytePlace,
}

/** More fields than this in view are nothing to read. */
const maxRows = 4096
/** Nodes of one level; further ones are found by going to them. */
const maxNodes = 5000
const maxRead = 1 << 20

const tensorsOf = (model: number) => findOpened(model)?.model.tensors ?? []

const single = new Map<number, { readonly from: object; readonly source: Promise<ByteSource> }>()

/** A model that could not be opened still has its main file. */
async function filesOf(model: number): Promise<readonly ByteSource[]> {
  const opened = findOpened(model)
  if (opened) return opened.model.files
  const { from } = requireInput(model)
  const known = single.get(model)
  if (known?.from === from) return [await known.source]
  const source = openInput(from)
  single.set(model, { from, source })
  source.catch(() => single.delete(model))
  return [await source]
}

async function requireFile({ model, file }: InFile): Promise<ByteSource> {
  const found = (await filesOf(model))[file]
  if (!found) throw new Error(`model ${model} has no file number ${file}`)
  return found
}

async function byteStrip(
  { model, file, count }: BytesCalls['byteStrip']['ask'],
  { move }: CallContext,
): Promise<Uint8Array> {
  const { size, name } = await requireFile({ model, file })
  const pieces = Math.max(1, Math.min(count, size))
  const whole = await wholeMap(model, tensorsOf(model).length)
  const strip = stripOf(whole?.[file]?.extents ?? payloadRows(model, name), size, pieces)
  move(strip.buffer)
  return strip
}

/** Without a map: where the weights are, and the index in front of them. */
function payloadRows(model: number, name: string): Pick<MapRow, 'offset' | 'length' | 'kind'>[] {
  const rows: Pick<MapRow, 'offset' | 'length' | 'kind'>[] = []
  let first = Number.POSITIVE_INFINITY
  for (const { data } of tensorsOf(model)) {
    if (data?.origin?.source.name !== name) continue
    rows.push({ offset: data.origin.offset, length: data.byteLength, kind: 'data' })
    first = Math.min(first, data.origin.offset)
  }
  return first < Number.POSITIVE_INFINITY ? [{ offset: 0, length: first, kind: 'field' }, ...rows] : rows
}

async function byteRead(ask: BytesCalls['byteRead']['ask'], { signal, move }: CallContext): Promise<Uint8Array> {
  const source = await requireFile(ask)
  const offset = Math.min(Math.max(0, ask.offset), source.size)
  const length = Math.min(ask.length, source.size - offset, maxRead)
  // What a source gives may be a view of something larger.
  const bytes = new Uint8Array(await source.read(offset, length, { signal }))
  move(bytes.buffer)
  return bytes
}

const valueBytes = 32

async function byteValues(
  ask: BytesCalls['byteValues']['ask'],
  { signal }: CallContext,
): Promise<readonly ReadValue[]> {
  const source = await requireFile(ask)
  const length = Math.max(0, Math.min(valueBytes, source.size - ask.offset))
  return readValues(await source.read(ask.offset, length, { signal }), ask.isBigEndian)
}

async function byteTree({
  model,
  file,
  parent,
  depth,
  from,
  to,
}: BytesCalls['byteTree']['ask']): Promise<readonly FieldNode[]> {
  const rows = await rowsIn(model, tensorsOf(model).length, file, [from, to])
  return childrenOf(rows, parent, depth).slice(0, maxNodes)
}

async function byteFind(ask: BytesCalls['byteFind']['ask'], { signal, progress }: CallContext): Promise<number | null> {
  const pattern = parsePattern(ask.text)
  if (!pattern) return null
  const source = await requireFile(ask)
  const { from, isBackward } = ask
  const onProgress = (done: number): void => progress({ done, total: source.size })
  return (await findBytes(source, pattern, { from, isBackward, signal, onProgress })) ?? null
}

/** An offset (`456`, `0x1c8`), the name of a tensor, or the path of a field. */
async function bytePlace({ model, file, text }: BytesCalls['bytePlace']['ask']): Promise<Place | null> {
  const wanted = text.trim()
  const files = await filesOf(model)
  if (/^(0x[0-9a-f]+|\d+)$/i.test(wanted)) {
    const offset = Number(wanted)
    return offset < (files[file]?.size ?? 0) ? { file, offset, length: 1 } : null
  }
  const tensor = tensorsOf(model).find(({ name }) => name === wanted)
  if (tensor?.data?.origin) {
    const { source, offset } = tensor.data.origin
    const index = files.findIndex(({ name }) => name === source.name)
    if (index >= 0) return { file: index, offset, length: tensor.data.byteLength, path: tensor.name }
  }
  return placeOfField(model, wanted)
}

async function placeOfField(model: number, path: string): Promise<Place | null> {
  try {
    const files = (await wholeMap(model, tensorsOf(model).length)) ?? []
    const lower = path.toLowerCase()
    for (const test of [(each: string) => each === path, (each: string) => each.toLowerCase().includes(lower)])
      for (const [file, { extents }] of files.entries()) {
        const row = extents.find((each) => test(each.path))
        if (row) return { file, offset: row.offset, length: row.length, path: row.path }
      }
  } catch (error) {
    if (!(error instanceof TareError)) throw error
  }
  return null
}
