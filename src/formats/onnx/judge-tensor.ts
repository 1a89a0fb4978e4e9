// From what was met to a tensor: is the type known, is the shape possible, is there exactly one place with the data, and has it the
// right size?
import type { ByteSource } from '../../bytes/index.js'
import { countElements, maxSafe } from '../../bytes/index.js'
import { type Payload, type ReadContext, rangePayload } from '../../model/index.js'
import { ownCodes as codes } from './codes.js'
import { type DataType, dataTypes, entryCount, fieldNames, stringType } from './data-types.js'
import type { ExternalFiles } from './external.js'
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

const rawField = 9

export class TensorJudge {
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #external: ExternalFiles

  constructor(source: ByteSource, context: ReadContext, external: ExternalFiles) {
    this.#source = source
    this.#context = context
    this.#external = external
  }

  /** Undefined when there is no way to make sense of it; why is reported. What is not listed is a field like others in the byte map. */
  async judge(draft: TensorDraft, isListed: boolean): Promise<Judged | JudgedStrings | undefined> {
    const judged = await this.#judge(draft)
    this.#recordValues(draft, isListed ? judged?.type : undefined)
    return judged
  }

  async #judge(draft: TensorDraft): Promise<Judged | JudgedStrings | undefined> {
    if (draft.isSegment) return this.#refuse(draft, 'segment', 'segment', 'only a segment of the tensor is here')
    const shape = this.shapeOf(draft, draft.dims)
    const type = dataTypes.get(draft.dataType)
    if (!type && draft.dataType !== stringType) {
      const what = draft.dataType === 0 ? '0 (undefined)' : String(draft.dataType)
      return this.#refuse(draft, 'dtype', 'data_type', `${what} is no element type`)
    }
    if (!shape) return undefined
    if (!type) return this.#judgeStrings(draft, shape)
    const byteLength = type.dtype.byteLength(shape)
    if (byteLength === undefined) return this.#refuse(draft, 'shape-overflow', 'dims', tooLarge(shape))
    if (draft.dataLocation !== 0 && draft.dataLocation !== 1) {
      return this.#refuse(draft, 'data-location', 'data_location', `${draft.dataLocation} is no place for data`)
    }
    this.#checkPlaces(draft, type)
    if (draft.dataLocation === 1) {
      const data = await this.#external.payload(draft, byteLength)
      return data && { type, shape, data }
    }
    return draft.raw ? this.#judgeRaw(draft, type, shape, byteLength) : this.#judgeTyped(draft, type, shape, byteLength)
  }

  /** The dimensions as a shape that can be; undefined, and reported, where it cannot. */
  shapeOf(draft: TensorDraft, dims: readonly bigint[]): readonly number[] | undefined {
    const negative = dims.findIndex((dim) => dim < 0n)
    if (negative >= 0) {
      const message = `dimension ${negative} is ${dims[negative]}`
      return this.#refuse(draft, 'negative-dim', 'dims', message)
    }
    const shape = dims.map(Number)
    const isPossible = shape.every((dim) => dim <= maxSafe) && countElements(shape) !== undefined
    return isPossible ? shape : this.#refuse(draft, 'shape-overflow', 'dims', tooLarge(dims))
  }

  #judgeRaw(draft: TensorDraft, type: DataType, shape: readonly number[], byteLength: number): Judged | undefined {
    const { start, end } = draft.raw!
    if (end - start === byteLength) return { type, shape, data: rangePayload(this.#source, start, byteLength) }
    const message = `${end - start} bytes, but [${shape.join(', ')}] of ${type.dtype.id} takes ${byteLength}`
    return this.#refuse(draft, 'size', 'raw_data', message)
  }

  #judgeTyped(draft: TensorDraft, type: DataType, shape: readonly number[], byteLength: number): Judged | undefined {
    const elements = countElements(shape) ?? 0
    const entries = entryCount(type, byteLength, elements)
    const typed: TypedField = draft.typed?.get(type.field) ?? { count: 0, uncounted: 0, only: undefined }
    const field = fieldNames.get(type.field)!
    if (typed.count === 0 && typed.uncounted === 0) {
      if (elements === 0) return { type, shape, data: rangePayload(this.#source, draft.pieces[0]!.start, 0) }
      return this.#refuse(draft, 'no-data', field, `there is neither raw_data nor ${field} for ${elements} elements`)
    }
    const most = typed.count + typed.uncounted
    const fewest = typed.count + Math.ceil(typed.uncounted / 10)
    if (entries < fewest || entries > most) {
      const found = fewest === most ? `${most}` : `${fewest} to ${most}`
      const wanted = `[${shape.join(', ')}] of ${type.dtype.id} takes ${entries}`
      return this.#refuse(draft, 'count', field, `${found} values, but ${wanted}`)
    }
    if (!type.isVarint && typed.only) {
      return { type, shape, data: rangePayload(this.#source, typed.only.start, byteLength) }
    }
    const values: TypedValues = {
      source: this.#source,
      pieces: draft.pieces,
      type,
      entries,
      byteLength,
      path: draft.path,
    }
    return { type, shape, data: typedPayload(values), ...(type.isVarint && { unread: values }) }
  }

  #judgeStrings(draft: TensorDraft, shape: readonly number[]): JudgedStrings | undefined {
    const elements = countElements(shape)
    if (elements === draft.strings) return { shape, type: undefined }
    const message = `${draft.strings} texts, but [${shape.join(', ')}] takes ${elements}`
    return this.#refuse(draft, 'count', 'string_data', message)
  }

  /** Data in two places: readers disagree. */
  #checkPlaces(draft: TensorDraft, type: DataType): void {
    if (!draft.typed && !draft.external && draft.strings === 0) return
    const places = [...(draft.typed ?? [])].filter(([, { count, uncounted }]) => count + uncounted > 0)
    const names = places.map(([field]) => fieldNames.get(field)!)
    if (draft.raw) names.push('raw_data')
    if (draft.strings > 0) names.push('string_data')
    if (draft.dataLocation === 1) names.push('external_data')
    else if (draft.external) {
      this.#report(draft, 'external-unused', 'external_data', 'data_location says that the data are here')
    }
    if (names.length < 2) return
    const taken = draft.dataLocation === 1 ? 'external_data' : draft.raw ? 'raw_data' : fieldNames.get(type.field)!
    this.#report(draft, 'two-fields', taken, `there are data in ${names.join(' and ')}; those in ${taken} are taken`)
  }

  #recordValues(draft: TensorDraft, type: DataType | undefined): void {
    const { extents } = this.#context
    if (!extents) return
    const file = this.#source.name
    const isHere = draft.dataLocation === 0
    const data = `data[${JSON.stringify(draft.name.value)}]`
    const add = (start: number, end: number, field: string, isData: boolean): void =>
      extents.add({
        file,
        offset: start,
        length: end - start,
        path: isData ? data : `${draft.path}.${field}`,
        kind: isData ? 'data' : 'field',
      })
    for (const { start, end, field } of draft.values ?? []) {
      const isData = isHere && !draft.raw && field === type?.field
      add(start, end, field === rawField ? 'raw_data' : fieldNames.get(field)!, isData)
    }
    if (draft.raw) add(draft.raw.start, draft.raw.end, 'raw_data', isHere && type !== undefined)
  }

  #refuse(draft: TensorDraft, code: keyof typeof codes, field: string, message: string): undefined {
    this.#report(draft, code, field, message)
    return undefined
  }

  #report(draft: TensorDraft, code: keyof typeof codes, field: string, message: string): void {
    const offset = draft.pieces[0]?.start ?? 0
    const name = draft.name.value === '' ? '' : ` (tensor ${JSON.stringify(draft.name.value)})`
    this.#context.report.report(codes[code], { offset, path: `${draft.path}.${field}`, message: message + name })
  }
}

const tooLarge = (dims: readonly (number | bigint)[]): string => `[${dims.join(', ')}] is more than any file can hold`
