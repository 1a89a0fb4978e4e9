// From a draft to a tensor: is the type known, is the shape possible, is there exactly one place with the data, and does it have the right size?
import { countElements, maxSafe } from '../../../bytes/index.js'
import { type Payload, rangePayload } from '../../../model/index.js'
import { ownCodes as codes } from '../codes.js'
import type { OnnxReader } from '../reader.js'
import { type DataType, dataTypes, entryCount, fieldNames, stringType } from './data-types.js'
import type { TensorDraft, TypedField } from './tensor-draft.js'
import { type TypedValues, typedPayload } from './typed-values.js'

export interface Judged {
  readonly type: DataType
  readonly shape: readonly number[]
  readonly data: Payload
  /** Where the values are entries of a list of varints, whose number and range only reading can show. */
  readonly unread?: TypedValues
}

/** A tensor of texts. */
export interface JudgedStrings {
  readonly shape: readonly number[]
  readonly type: undefined
}

/** A tensor whose data are in another file. */
export interface JudgedElsewhere {
  readonly type: DataType
  readonly shape: readonly number[]
  /** How many bytes there should be. */
  readonly byteLength: number
}

type Verdict = Judged | JudgedElsewhere | JudgedStrings | undefined

const rawField = 9

/** Undefined when no sense can be made of it; why is reported. */
export const judgeTensor = (draft: TensorDraft, reader: OnnxReader): Verdict => new TensorJudge(draft, reader).judge()

export const isElsewhere = (verdict: Verdict): verdict is JudgedElsewhere =>
  verdict?.type !== undefined && !('data' in verdict)

class TensorJudge {
  readonly #draft: TensorDraft
  readonly #reader: OnnxReader

  constructor(draft: TensorDraft, reader: OnnxReader) {
    this.#draft = draft
    this.#reader = reader
  }

  judge(): Verdict {
    const { isSegment, dataType, dataLocation, raw } = this.#draft
    if (isSegment) return this.#refuse('segment', 'segment', 'only a segment of the tensor is here')
    const shape = this.#shape()
    const type = dataTypes.get(dataType)
    if (!type && dataType !== stringType) {
      const what = dataType === 0 ? '0 (undefined)' : String(dataType)
      return this.#refuse('dtype', 'data_type', `${what} is not an element type`)
    }
    if (!shape) return undefined
    if (!type) return this.#judgeStrings(shape)
    const byteLength = type.dtype.byteLength(shape)
    if (byteLength === undefined) return this.#refuse('shape-overflow', 'dims', tooLarge(shape))
    if (dataLocation !== 0 && dataLocation !== 1) {
      return this.#refuse('data-location', 'data_location', `${dataLocation} is not a place for data`)
    }
    this.#checkPlaces(type)
    if (dataLocation === 1) return { type, shape, byteLength }
    return raw ? this.#judgeRaw(type, shape, byteLength) : this.#judgeTyped(type, shape, byteLength)
  }

  #shape(): readonly number[] | undefined {
    const { dims } = this.#draft
    const negative = dims.findIndex((dim) => dim < 0n)
    if (negative >= 0) return this.#refuse('negative-dim', 'dims', `dimension ${negative} is ${dims[negative]}`)
    const shape = dims.map(Number)
    const isPossible = shape.every((dim) => dim <= maxSafe) && countElements(shape) !== undefined
    return isPossible ? shape : this.#refuse('shape-overflow', 'dims', tooLarge(dims))
  }

  #judgeRaw(type: DataType, shape: readonly number[], byteLength: number): Judged | undefined {
    const { start, end } = this.#draft.raw!
    if (end - start === byteLength) return { type, shape, data: rangePayload(this.#reader.source, start, byteLength) }
    const message = `${end - start} bytes, but [${shape.join(', ')}] of ${type.dtype.id} takes ${byteLength}`
    return this.#refuse('size', 'raw_data', message)
  }

  #judgeTyped(type: DataType, shape: readonly number[], byteLength: number): Judged | undefined {
    const { source } = this.#reader
    const { pieces, path } = this.#draft
    const elements = countElements(shape) ?? 0
    const entries = entryCount(type, byteLength, elements)
    const typed: TypedField = this.#draft.typed?.get(type.field) ?? { count: 0, uncounted: 0, only: undefined }
    const field = fieldNames.get(type.field)!
    const max = typed.count + typed.uncounted
    if (max === 0) {
      if (elements === 0) return { type, shape, data: rangePayload(source, pieces[0]!.start, 0) }
      return this.#refuse('no-data', field, `there is neither raw_data nor ${field} for ${elements} elements`)
    }
    const min = typed.count + Math.ceil(typed.uncounted / 10)
    if (entries < min || entries > max) {
      const found = min === max ? `${max}` : `${min} to ${max}`
      const wanted = `[${shape.join(', ')}] of ${type.dtype.id} takes ${entries}`
      return this.#refuse('count', field, `${found} values, but ${wanted}`)
    }
    if (!type.isVarint && typed.only) {
      return { type, shape, data: rangePayload(source, typed.only.start, byteLength) }
    }
    const values: TypedValues = { source, pieces, type, entries, byteLength, path }
    return { type, shape, data: typedPayload(values), ...(type.isVarint && { unread: values }) }
  }

  #judgeStrings(shape: readonly number[]): JudgedStrings | undefined {
    const { strings } = this.#draft
    const elements = countElements(shape)
    if (elements === strings) return { shape, type: undefined }
    return this.#refuse('count', 'string_data', `${strings} texts, but [${shape.join(', ')}] takes ${elements}`)
  }

  /** Data in two places: readers disagree. */
  #checkPlaces(type: DataType): void {
    const { typed, external, strings, raw, dataLocation } = this.#draft
    if (!typed && !external && strings === 0) return
    const places = [...(typed ?? [])].filter(([, { count, uncounted }]) => count + uncounted > 0)
    const names = places.map(([field]) => fieldNames.get(field)!)
    if (raw) names.push('raw_data')
    if (strings > 0) names.push('string_data')
    if (dataLocation === 1) names.push('external_data')
    else if (external) this.#report('external-unused', 'external_data', 'data_location says that the data are here')
    if (names.length < 2) return
    const taken = dataLocation === 1 ? 'external_data' : raw ? 'raw_data' : fieldNames.get(type.field)!
    this.#report('two-fields', taken, `there are data in ${names.join(' and ')}; those in ${taken} are taken`)
  }

  #refuse(code: keyof typeof codes, field: string, message: string): undefined {
    this.#report(code, field, message)
    return undefined
  }

  #report(code: keyof typeof codes, field: string, message: string): void {
    const { pieces, path, name } = this.#draft
    const shown = name.value === '' ? '' : ` (tensor ${JSON.stringify(name.value)})`
    const place = { offset: pieces[0]?.start ?? 0, path: `${path}.${field}` }
    this.#reader.context.report.report(codes[code], { ...place, message: message + shown })
  }
}

/** Notes the values of a tensor in the byte map; `type` of those whose values count as data. */
export function recordValues(draft: TensorDraft, type: DataType | undefined, { source, context }: OnnxReader): void {
  const { extents } = context
  if (!extents) return
  const isHere = draft.dataLocation === 0
  const data = `data[${JSON.stringify(draft.name.value)}]`
  const add = (start: number, end: number, field: string, isData: boolean): void => {
    const place = { file: source.name, offset: start, length: end - start }
    extents.add({ ...place, path: isData ? data : `${draft.path}.${field}`, kind: isData ? 'data' : 'field' })
  }
  for (const { start, end, field } of draft.values ?? []) {
    const isData = isHere && !draft.raw && field === type?.field
    add(start, end, field === rawField ? 'raw_data' : fieldNames.get(field)!, isData)
  }
  if (draft.raw) add(draft.raw.start, draft.raw.end, 'raw_data', isHere && type !== undefined)
}

const tooLarge = (dims: readonly (number | bigint)[]): string => `[${dims.join(', ')}] is more than any file can hold`
