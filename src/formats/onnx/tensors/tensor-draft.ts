// A tensor as it is met in the file, before it is checked: fields come in any order, and protobuf merges a tensor that is given in two pieces.
// Values stay where they are. How many values a packed list of varints has shows only in its content; short lists are counted at once, long
// ones when they are read.
import type { Range } from '../../../bytes/ranges.js'
import { type Noted, protobufCodes } from '../../../wire/protobuf/protobuf.js'
import { countVarints } from '../../../wire/protobuf/varints.js'
import { ownCodes as codes } from '../codes.js'
import { tensorMessage } from '../messages.js'
import { noText, type OnnxReader, type Text } from '../reader.js'

/** What is known of the values in one typed field. */
export interface TypedField {
  /** Values that were counted. */
  count: number
  /** Bytes of packed varints that were not. */
  uncounted: number
  /** The packed list, as long as it is the only piece of the field. */
  only: Range | undefined
}

export interface TensorDraft {
  readonly path: string
  /** Where the message lies; several places when it was merged. */
  pieces: Range[]
  dims: bigint[]
  dataType: number
  name: Text
  raw: Range | undefined
  typed: Map<number, TypedField> | undefined
  /** Values of the typed fields, for the byte map only. */
  values: (Range & { readonly field: number })[] | undefined
  strings: number
  dataLocation: number
  external: Map<string, Text> | undefined
  externals: number
  isSegment: boolean
}

export const newDraft = (path: string): TensorDraft => ({
  path,
  pieces: [],
  dims: [],
  dataType: 0,
  name: noText,
  raw: undefined,
  typed: undefined,
  values: undefined,
  strings: 0,
  dataLocation: 0,
  external: undefined,
  externals: 0,
  isSegment: false,
})

/** Up to here packed varints are counted when they are met: they are in the reader's window anyway. */
const countAtOnce = 1 << 15
/** `basepath` is left over from older writers. */
const externalKeys: ReadonlySet<string> = new Set(['location', 'offset', 'length', 'checksum', 'basepath'])

/** Adds a message, or another piece of it, to the draft. */
export function readTensor(draft: TensorDraft, place: Range, reader: OnnxReader): void | Promise<void> {
  if (draft.pieces.length > 0) draft.pieces.push(place)
  else draft.pieces = [place] // an empty list that grows takes room for many
  return reader.walk(place, draft.path, tensorMessage, () => readTensorField(draft, reader))
}

function readTensorField(draft: TensorDraft, reader: OnnxReader): Noted | Promise<Noted> {
  switch (reader.field) {
    case 1:
      return reader.dims(draft.dims, `${draft.path}.dims`)
    case 2:
      draft.dataType = reader.int32
      return false
    case 3:
      draft.isSegment = true
      return false
    case 6:
      draft.strings++
      return false
    case 8:
      return reader.text(`${draft.path}.name`, (text) => {
        draft.name = text
      })
    case 9:
      if (draft.raw) {
        reportRepeated(draft, 'raw_data', reader)
        keepForMap(draft, { ...draft.raw, field: 9 }, reader)
      }
      draft.raw = reader.content
      return true
    case 13:
      return readExternal(draft, reader)
    case 14:
      draft.dataLocation = reader.int32
      return false
    case 4:
    case 5:
    case 7:
    case 10:
    case 11:
      return readValues(draft, reader)
    default:
      return false
  }
}

function readValues(draft: TensorDraft, reader: OnnxReader): boolean | Promise<boolean> {
  const { field, content, length } = reader
  keepForMap(draft, { ...content, field }, reader)
  draft.typed ??= new Map()
  const isFirst = !draft.typed.has(field)
  const known = draft.typed.get(field) ?? { count: 0, uncounted: 0, only: undefined }
  draft.typed.set(field, known)
  if (reader.wire !== 2) {
    known.count++
    known.only = undefined
    return true
  }
  known.only = isFirst ? content : undefined
  const width = field === 4 ? 4 : field === 10 ? 8 : undefined
  if (width !== undefined) {
    if (length % width !== 0) reportList(draft, `${length} bytes are not a whole number of values`, reader)
    known.count += Math.floor(length / width)
    return true
  }
  if (length > countAtOnce) {
    known.uncounted += length
    return true
  }
  const counting = reader.withPayload((bytes) => {
    const count = countVarints(bytes)
    if (count === undefined) reportList(draft, 'the list does not end with the end of a value', reader)
    else known.count += count
  })
  return counting === false || counting.then(() => true)
}

async function readExternal(draft: TensorDraft, reader: OnnxReader): Promise<string> {
  const path = `${draft.path}.external_data[${draft.externals++}]`
  const entry = await reader.entry(path)
  const { value: key } = entry.key
  if (!externalKeys.has(key)) {
    const message = `${JSON.stringify(key)} is none of ${[...externalKeys].join(', ')}`
    reader.context.report.report(codes['external-key'], { offset: entry.at, path, message })
    return path
  }
  draft.external ??= new Map()
  if (draft.external.has(key)) reportRepeated(draft, `external_data[${JSON.stringify(key)}]`, reader)
  draft.external.set(key, entry.value)
  return path
}

function keepForMap(draft: TensorDraft, values: Range & { readonly field: number }, { context }: OnnxReader): void {
  if (!context.extents) return
  draft.values ??= []
  draft.values.push(values)
}

function reportRepeated({ path }: TensorDraft, field: string, { at: offset, context }: OnnxReader): void {
  const message = `${field} was there before`
  context.report.report(codes.repeated, { offset, path: `${path}.${field}`, message })
}

function reportList(draft: TensorDraft, message: string, { start: offset, length, field, context }: OnnxReader): void {
  const path = `${draft.path}.${tensorMessage.get(field)?.name ?? ''}`
  context.report.report(protobufCodes.packed, { offset, length, path, message })
}
