// Storages are the flat memory that tensors are views of. In a pickle they are persistent ids: ("storage", type, key, location, count). The
// location is the device that the storage was on, which says nothing about the bytes. Several tensors can share one storage.
import { toSafe } from '../../../bytes/index.js'
import type { DType } from '../../../dtypes/index.js'
import type { Payload, ReadContext } from '../../../model/index.js'
import { PickleGlobal, PickleList, type PickleReference, type PickleValue } from '../../../wire/pickle/pickle.js'
import { codes } from '../codes.js'
import { packedStorages, storageTypes, untypedStorages } from './types.js'

export interface StorageId {
  /** Its position among the references of the pickle. */
  readonly index: number
  readonly key: string
  /** The name of its class: `FloatStorage`. Undefined for untyped storages. */
  readonly storage: string | undefined
  /** Undefined for untyped storages, which count bytes. */
  readonly dtype: DType | undefined
  readonly elementSize: number
  readonly byteLength: number
  /** In very old files a storage can be a part of another one: from this element on. */
  readonly start: number
  readonly offset: number
}

/** By the index of the reference; undefined for those that are not in order. */
export type StorageIds = readonly (StorageId | undefined)[]

/** A storage that was found in the file. */
export interface Storage {
  readonly byteLength: number
  part(offset: number, length: number): Payload
}

/** Everything that tensors need to know about the storages of a file. */
export interface Storages {
  readonly ids: StorageIds
  /** How many bytes they have together. */
  readonly byteLength: number
  readonly isBigEndian: boolean
  /** Undefined for those that are not there in full. */
  find(id: StorageId): Storage | undefined
}

/** How persistent ids look in a format. */
export interface IdForm {
  /** How many parts they may have. */
  readonly lengths: readonly number[]
  /** Whether a class can be one: ("module", class, file, source text). The text is not read. */
  readonly hasModules?: boolean
}

/** Checks all references of a pickle. Those that are not in order are reported and left out. */
export function readStorageIds(
  references: readonly PickleReference[],
  path: string,
  context: ReadContext,
  form: IdForm,
): StorageIds {
  const reader = new StorageIdReader(form)
  for (const { id, offset } of references) reader.add(id, offset)
  return reader.finish(path, context)
}

/** Reads ids one by one, as a pickle gives them. What is wrong with them is reported when all of it was read. */
export class StorageIdReader {
  readonly ids: (StorageId | undefined)[] = []
  readonly #problems: { readonly code: IdProblem; readonly offset: number; readonly message: string }[] = []
  readonly #form: IdForm

  constructor(form: IdForm) {
    this.#form = form
  }

  add(id: PickleValue, offset: number): void {
    const wrong = (code: IdProblem, message: string): undefined => void this.#problems.push({ code, offset, message })
    const isLeftOut = this.#form.hasModules && isModule(id)
    const index = this.ids.length
    this.ids.push(isLeftOut ? undefined : readStorageId(id, index, offset, this.#form, wrong))
  }

  finish(path: string, { report }: ReadContext): StorageIds {
    for (const { code, offset, message } of this.#problems) report.report(codes[code], { offset, path, message })
    return this.ids
  }
}

type IdProblem = 'persistent-id' | 'storage-type'

function isModule(id: PickleValue): boolean {
  return id instanceof PickleList && id.items[0] === 'module' && id.items[1] instanceof PickleGlobal
}

function readStorageId(
  id: PickleValue,
  index: number,
  offset: number,
  { lengths }: IdForm,
  wrong: (code: IdProblem, message: string) => undefined,
): StorageId | undefined {
  if (!(id instanceof PickleList) || id.kind !== 'tuple') return wrong('persistent-id', 'the id is not a tuple')
  const [tag, type, key, , count, view] = id.items
  if (tag !== 'storage') return wrong('persistent-id', 'the id does not begin with "storage"')
  if (!lengths.includes(id.items.length))
    return wrong('persistent-id', `the id has ${id.items.length} parts, ${lengths.join(' or ')} were expected`)
  if (typeof key !== 'string') return wrong('persistent-id', 'the key of the storage is not text')
  const elements = typeof count === 'bigint' ? toSafe(count) : undefined
  if (elements === undefined) return wrong('persistent-id', 'the number of elements is impossible')
  if (!(type instanceof PickleGlobal)) return wrong('storage-type', 'the type of the storage is not a name')
  const isUntyped = untypedStorages.has(type.name) && ['torch', 'torch.storage'].includes(type.module)
  const isOfTorch = ['torch', 'torch.cuda'].includes(type.module)
  const dtype = isOfTorch ? (storageTypes.get(type.name) ?? packedStorages.get(type.name)) : undefined
  if (!isUntyped && !dtype) return wrong('storage-type', `${JSON.stringify(type.fullName)} is not a storage`)
  const elementSize = dtype?.group.bytes ?? 1
  const byteLength = elements * elementSize
  if (!Number.isSafeInteger(byteLength))
    return wrong('persistent-id', `${elements} elements are more than any file can hold`)
  const start = readView(view)
  if (start === undefined) return wrong('persistent-id', 'the sixth part of the id is not a view')
  const storage = isUntyped ? undefined : type.name
  return { index, key, storage, dtype, elementSize, byteLength, start, offset }
}

/** (key of the view, first element, count); absent or None nearly always. */
function readView(view: unknown): number | undefined {
  if (view === undefined || view === null) return 0
  const first = view instanceof PickleList ? view.items[1] : undefined
  return typeof first === 'bigint' ? toSafe(first) : undefined
}
