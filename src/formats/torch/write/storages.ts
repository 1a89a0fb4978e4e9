// The storages of a new archive. They are numbered as the pickle meets them, which is also their order in the archive: loaders that compute
// where data lie rely on it. Tensors with the same bytes and type share a storage.
import type { ByteSource } from '../../../bytes/index.js'
import type { Payload } from '../../../model/index.js'
import { PickleGlobal, PickleList, PickleReference } from '../../../wire/pickle/pickle.js'

/** A storage in the archive. */
export interface NewStorage {
  readonly payload: Payload
  /** The checksum, where it is known. */
  readonly crc32?: number | undefined
}

/** `storage` names the class of it, or is undefined for one that counts bytes. */
export const storageClass = (storage: string | undefined): PickleGlobal =>
  storage === undefined ? untyped : named('torch', storage)

/** One object for each name, so that a model of many tensors has few. */
const globals = new Map<string, PickleGlobal>()

export function named(module: string, name: string): PickleGlobal {
  const key = `${module} ${name}`
  const known = globals.get(key) ?? new PickleGlobal(module, name, 0)
  globals.set(key, known)
  return known
}

const untyped = named('torch.storage', 'UntypedStorage')

export class NewStorages {
  readonly list: NewStorage[] = []
  readonly #byPayload = new Map<Payload, Map<PickleGlobal, number>>()
  readonly #byRange = new Map<ByteSource, Map<string, number>>()
  readonly #kept = new Map<string, number>()

  /** The number of the storage with these bytes. */
  add(payload: Payload, type: PickleGlobal): number {
    const known = payload.byteLength === 0 ? undefined : this.#find(payload, type)
    if (known !== undefined) return known
    const index = this.list.push({ payload }) - 1
    if (payload.byteLength > 0) this.#note(payload, type, index)
    return index
  }

  /** A storage of the source, kept as it is with all views of it. */
  keep(key: string, storage: () => NewStorage): number {
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const index = this.list.push(storage()) - 1
    this.#kept.set(key, index)
    return index
  }

  #find(payload: Payload, type: PickleGlobal): number | undefined {
    const same = this.#byPayload.get(payload)?.get(type)
    if (same !== undefined || !payload.origin) return same
    const { source } = payload.origin
    return this.#byRange.get(source)?.get(rangeKey(payload, type))
  }

  #note(payload: Payload, type: PickleGlobal, index: number): void {
    // Only ranges of files can be the same without being the same object.
    const range = payload.origin
    if (range) {
      const ranges = this.#byRange.get(range.source) ?? new Map<string, number>()
      ranges.set(rangeKey(payload, type), index)
      this.#byRange.set(range.source, ranges)
      return
    }
    const types = this.#byPayload.get(payload) ?? new Map<PickleGlobal, number>()
    types.set(type, index)
    this.#byPayload.set(payload, types)
  }
}

const rangeKey = ({ origin }: Payload, { name }: PickleGlobal): string => `${origin!.offset} ${origin!.length} ${name}`

/** What stands for a storage in the pickle. It is said to be of the processor's memory: the bytes are the same, and every machine has that. */
export function reference(index: number, type: PickleGlobal, count: number): PickleReference {
  const id = new PickleList('tuple', ['storage', type, String(index), 'cpu', BigInt(count)])
  return new PickleReference(id, index, 0)
}
