// A tensor as it is met in the file, before anything about it is judged: fields come in any order, and protobuf merges a tensor that is
// given in two pieces. Values stay where they are. Lists of varints say only by their content how many values they have; short ones are
// counted at once, long ones when somebody reads them.
import type { ReadContext } from '../../model/index.js'
import { type Noted, type ProtobufReader, protobufCodes } from '../../wire/protobuf/protobuf.js'
import { countVarints } from '../../wire/protobuf/varints.js'
import { ownCodes as codes } from './codes.js'
import { entryMessage, tensorMessage } from './messages.js'
import { noText, type Text, type Texts } from './texts.js'

/** Bytes from `start` to `end`, which is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** What is known of the values in one typed field. */
export interface TypedField {
  /** Values that were counted. */
  count: number
  /** Bytes of packed varints that were not. */
  uncounted: number
  /** The packed list, as long as it is the only piece of the field. */
  only: Span | undefined
}

export interface TensorDraft {
  readonly path: string
  /** Where the message lies; several places when it was merged. */
  readonly pieces: Span[]
  dims: bigint[]
  dataType: number
  name: Text
  raw: Span | undefined
  typed: Map<number, TypedField> | undefined
  /** Values of the typed fields, for the byte map only. */
  values: (Span & { readonly field: number })[] | undefined
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

export const maxDims = 255
/** Up to here packed varints are counted when they are met: the walk reads what is so close anyway. */
const countAtOnce = 1 << 15
const maxVarint = 10

export class TensorReader {
  readonly #reader: ProtobufReader
  readonly #context: ReadContext
  readonly #texts: Texts

  constructor(reader: ProtobufReader, context: ReadContext, texts: Texts) {
    this.#reader = reader
    this.#context = context
    this.#texts = texts
  }

  /** Adds the message between two offsets to the draft. */
  async read(draft: TensorDraft, start: number, end: number): Promise<void> {
    draft.pieces.push({ start, end })
    await this.#reader.walk(start, end, draft.path, tensorMessage, () => this.#visit(draft))
  }

  #visit(draft: TensorDraft): Noted | Promise<Noted> {
    const reader = this.#reader
    switch (reader.field) {
      case 1:
        return readDims(reader, draft.dims, `${draft.path}.dims`, this.#context)
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
        return this.#texts.read(reader, `${draft.path}.name`, (text) => {
          draft.name = text
        })
      case 9:
        if (draft.raw) this.#repeated(draft, 'raw_data')
        if (draft.raw) this.#keepSpan(draft, { ...draft.raw, field: 9 })
        draft.raw = { start: reader.start, end: reader.end }
        return true
      case 13:
        return this.#readExternal(draft)
      case 14:
        draft.dataLocation = reader.int32
        return false
      case 4:
      case 5:
      case 7:
      case 10:
      case 11:
        return this.#readValues(draft)
      default:
        return false
    }
  }

  #repeated(draft: TensorDraft, field: string): void {
    const path = `${draft.path}.${field}`
    this.#context.report.report(codes.repeated, { offset: this.#reader.at, path, message: `${field} was there before` })
  }

  #readValues(draft: TensorDraft): boolean | Promise<boolean> {
    const reader = this.#reader
    const { field, start, end, length } = reader
    this.#keepSpan(draft, { start, end, field })
    draft.typed ??= new Map()
    const isFirst = !draft.typed.has(field)
    const known = draft.typed.get(field) ?? { count: 0, uncounted: 0, only: undefined }
    draft.typed.set(field, known)
    if (reader.wire !== 2) {
      known.count++
      known.only = undefined
      return true
    }
    known.only = isFirst ? { start, end } : undefined
    const width = field === 4 ? 4 : field === 10 ? 8 : undefined
    if (width !== undefined) {
      if (length % width !== 0) this.#badList(draft, `${length} bytes are no whole number of values`)
      known.count += Math.floor(length / width)
      return true
    }
    if (length > countAtOnce) {
      known.uncounted += length
      return true
    }
    const counting = reader.withPayload((bytes) => {
      const count = countVarints(bytes)
      if (count === undefined) this.#badList(draft, 'the list does not end with the end of a value')
      else known.count += count
    })
    return counting === false || counting.then(() => true)
  }

  #keepSpan(draft: TensorDraft, span: Span & { readonly field: number }): void {
    if (!this.#context.extents) return
    draft.values ??= []
    draft.values.push(span)
  }

  #badList(draft: TensorDraft, message: string): void {
    const { start: offset, length, field } = this.#reader
    const path = `${draft.path}.${tensorMessage.get(field)?.name ?? ''}`
    this.#context.report.report(protobufCodes.packed, { offset, length, path, message })
  }

  async #readExternal(draft: TensorDraft): Promise<string> {
    const path = `${draft.path}.external_data[${draft.externals++}]`
    const entry = await this.readEntry(path)
    const { value: key } = entry.key
    if (!externalKeys.has(key)) {
      const message = `${JSON.stringify(key)} is none of ${[...externalKeys].join(', ')}`
      this.#context.report.report(codes['external-key'], { offset: entry.at, path, message })
      return path
    }
    draft.external ??= new Map()
    if (draft.external.has(key)) this.#repeated(draft, `external_data[${JSON.stringify(key)}]`)
    draft.external.set(key, entry.value)
    return path
  }

  /** The visited field as a pair of texts. */
  async readEntry(path: string): Promise<{ at: number; key: Text; value: Text }> {
    const reader = this.#reader
    const entry = { at: reader.at, key: noText, value: noText }
    await reader.walk(reader.start, reader.end, path, entryMessage, () => {
      const name = reader.field === 1 ? 'key' : 'value'
      return this.#texts.read(reader, `${path}.${name}`, (text) => {
        entry[name] = text
      })
    })
    return entry
  }
}

/** `basepath` is what older writers left behind. */
const externalKeys: ReadonlySet<string> = new Set(['location', 'offset', 'length', 'checksum', 'basepath'])

/** Dimensions, packed or one by one, of a tensor or a sparse tensor. */
export function readDims(
  reader: ProtobufReader,
  dims: bigint[],
  path: string,
  { report }: ReadContext,
): false | Promise<false> {
  const { at: offset, length } = reader
  const tooMany = (): never =>
    report.fail(codes.rank, { offset, path, message: `there are more than ${maxDims} dimensions` })
  if (reader.wire === 0) {
    if (dims.push(reader.int64) > maxDims) tooMany()
    return false
  }
  if (length > maxDims * maxVarint) tooMany()
  return reader.withPayload((bytes) => {
    const count = countVarints(bytes)
    if (count === undefined) {
      return report.fail(protobufCodes.packed, {
        offset,
        path,
        message: 'the list does not end with the end of a value',
      })
    }
    if (dims.length + count > maxDims) tooMany()
    for (const dim of readVarints(bytes)) dims.push(dim)
  })
}

/** The values of a short list that was counted before. */
function readVarints(bytes: Uint8Array): bigint[] {
  const values: bigint[] = []
  let value = 0n
  let shift = 0n
  for (const byte of bytes) {
    value += BigInt(byte % 0x80) * 2n ** shift
    shift += 7n
    if (byte >= 0x80) continue
    values.push(BigInt.asIntN(64, value))
    value = 0n
    shift = 0n
  }
  return values
}
