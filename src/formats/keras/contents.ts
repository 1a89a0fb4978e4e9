// The objects of an HDF5 file as tensors and metadata. A tensor is called by the path of its dataset, as h5py shows it.
import type { ByteSource } from '../../bytes/index.js'
import { bf16, type DType, dtypeById, packed } from '../../dtypes/index.js'
import {
  bytesPayload,
  type MetaValue,
  type Payload,
  type ReadContext,
  rangePayload,
  type Tensor,
} from '../../model/index.js'
import { swappedPayload } from '../../payloads/swapped-payload.js'
import type { Attribute } from '../../wire/hdf5/attributes.js'
import { type Dataset, type Hdf5Visitor, objectPath } from '../../wire/hdf5/walk.js'
import { ChunkCache, chunkedPayload } from './chunked-payload.js'
import { ownCodes as codes } from './codes.js'
import { attributeKey, metaValueOf } from './metadata.js'

/** What an optimizer has learned lies below one of these groups: of Keras 3 files and of older ones. */
const stateGroups = ['optimizer', 'optimizer_weights']

/** Keras says of bytes that it keeps bfloat16 in them. */
const typeAttribute = 'dtype'

export class Contents implements Hdf5Visitor {
  readonly tensors: Tensor[] = []
  readonly metadata = new Map<string, MetaValue>()
  /** Tensors that are packed, so that their bytes can be checked by unpacking them. */
  readonly packed: { readonly tensor: Tensor; readonly stored: Payload }[] = []
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #names = new Set<string>()
  readonly #cache = new ChunkCache()
  /** Datasets that several links lead to have one payload. */
  readonly #payloads = new Map<Dataset, Payload>()

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
  }

  group(names: readonly string[], attributes: readonly Attribute[]): void {
    this.#addAttributes(names, attributes)
  }

  dataset(names: readonly string[], dataset: Dataset): void {
    const { report } = this.#context
    const { type, shape, attributes, offset } = dataset
    const name = names.join('/')
    const details = { offset, path: objectPath(names) }
    if (this.#names.size === this.#names.add(name).size) {
      report.report(codes['same-name'], { ...details, message: `${JSON.stringify(name)} was there before` })
      return
    }
    if (type.text === 'variable' || type.what === 'lists') {
      report.report(codes['left-out'], { ...details, message: `it holds ${type.what}, and was left out` })
      return
    }
    const isBf16 = type.isOpaque && type.size === 2 && isStated(attributes, 'bfloat16')
    this.#addAttributes(names, isBf16 ? attributes.filter((each) => each.name !== typeAttribute) : attributes)
    const dtype = isBf16 ? bf16 : ((type.dtype === undefined ? undefined : dtypeById(type.dtype)) ?? packed)
    if (dtype === packed)
      report.report(codes['foreign-type'], { ...details, message: `its elements are ${type.what}, kept as bytes` })
    const stored = this.#payloads.get(dataset) ?? this.#stored(dataset, details.path)
    this.#payloads.set(dataset, stored)
    const data = type.bigEndian ? swappedPayload(stored, partSize(dtype)) : stored
    const role = stateGroups.includes(names[0]!) && names.length > 1 ? 'state' : 'weight'
    const extra = dtype === packed ? { type: type.what } : undefined
    const tensor: Tensor = { name, dtype, shape, order: 'row', role, data, ...(extra && { extra }) }
    this.tensors.push(tensor)
    if (dataset.storage.kind === 'chunks') this.packed.push({ tensor, stored })
  }

  #stored(dataset: Dataset, path: string): Payload {
    const { extents } = this.#context
    const { storage } = dataset
    const file = this.#source.name
    if (storage.kind === 'chunks') {
      for (const [i, { offset, size: length }] of storage.chunks.entries())
        extents?.add({ file, offset, length, path: `${path}.chunks[${i}]`, kind: 'data' })
      return storage.chunks.length === 0
        ? bytesPayload(new Uint8Array())
        : chunkedPayload(this.#source, dataset, storage, path, this.#cache)
    }
    const { offset, length } = storage
    if (length > 0 && !storage.isInHeader) extents?.add({ file, offset, length, path: `${path}.data`, kind: 'data' })
    return length === 0 ? bytesPayload(new Uint8Array()) : rangePayload(this.#source, offset, length)
  }

  #addAttributes(names: readonly string[], attributes: readonly Attribute[]): void {
    for (const attribute of attributes) {
      const value = metaValueOf(attribute)
      if (value) this.metadata.set(attributeKey(names, attribute.name), value)
    }
  }
}

const isStated = (attributes: readonly Attribute[], type: string): boolean =>
  attributes.some(({ name, texts }) => name === typeAttribute && texts?.[0] === type)

/** The two parts of a complex number are swapped one by one. */
const partSize = (dtype: DType): number => (dtype.kind === 'complex' ? dtype.group.bytes / 2 : dtype.group.bytes)
