// The file .metadata: a pickle of one object, whose attributes are dictionaries. `state_dict_metadata` describes everything by its name:
// a tensor with its type, its shape and the boxes (chunks) that it was cut into, or an object without further description.
// `storage_data` says where each of them is stored, by the name and, for a chunk, the place of its first element. `planner_data` gives
// the keys that a name was joined from. What else there is (the path that was saved to, ids of the run) says nothing about the content.
import { type ByteSource, countElements, toSafe } from '../../bytes/index.js'
import { checkGlobals } from '../../content/torch-save/globals.js'
import { sizes } from '../../content/torch-save/objects/rebuild.js'
import { elementTypes } from '../../content/torch-save/objects/types.js'
import { isOptimizerKey } from '../../content/torch-save/objects/walk.js'
import type { DType } from '../../dtypes/index.js'
import type { ReadContext, Tensor } from '../../model/index.js'
import type { Tile } from '../../payloads/mosaic-payload.js'
import {
  PickleDict,
  PickleGlobal,
  PickleList,
  PickleObject,
  type PickleValue,
  readPickle,
} from '../../wire/pickle/pickle.js'
import { codes } from './codes.js'

/** A tensor as .metadata describes it. */
export interface StatedTensor {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly role: Tensor['role']
  readonly chunks: readonly Tile[]
  /** Where in .metadata it is described. */
  readonly offset: number
}

/** Something that is not a tensor. */
export interface StatedObject {
  readonly name: string
  readonly offset: number
}

/** Where a chunk or an object is stored. */
export interface Item {
  readonly name: string
  /** The first element of the chunk; undefined for an object. */
  readonly at: string | undefined
  readonly file: string
  readonly start: number
  readonly length: number
  /** Where in .metadata that is said. */
  readonly offset: number
}

export interface Checkpoint {
  readonly version: string | undefined
  readonly tensors: readonly StatedTensor[]
  readonly objects: readonly StatedObject[]
  readonly items: readonly Item[]
}

const room = 'torch.distributed.checkpoint'
const oldRoom = 'torch.distributed._shard.sharded_tensor.metadata'

/** The classes that .metadata is made of. */
const known: ReadonlySet<string> = new Set([
  ...['Metadata', 'TensorStorageMetadata', 'BytesStorageMetadata', 'ChunkStorageMetadata'].map(inMetadata),
  ...['TensorProperties', '_MEM_FORMAT_ENCODING', 'MetadataIndex', 'StorageMeta'].map(inMetadata),
  ...['TensorProperties', 'MEM_FORMAT_ENCODING'].map((name) => `${oldRoom}.${name}`),
  ...['_StorageInfo', '_StoragePrefix'].map((name) => `${room}.filesystem.${name}`),
  // The path that was saved to.
  ...['pathlib', 'pathlib._local'].flatMap((module) => [`${module}.PosixPath`, `${module}.WindowsPath`]),
])

function inMetadata(name: string): string {
  return `${room}.metadata.${name}`
}

export const chunkKey = (offsets: readonly number[]): string => offsets.join(',')

export async function readMetadata(source: ByteSource, context: ReadContext): Promise<Checkpoint> {
  const { report, extents, limits, signal } = context
  if (source.size > limits.indexBytes) {
    const message = `the file has ${source.size} bytes, the limit is ${limits.indexBytes}`
    report.fail(codes['metadata-size'], { offset: 0, path: 'metadata', message })
  }
  const pickle = readPickle(await source.read(0, source.size, { signal }), report, { path: 'metadata' })
  const { value, byteLength } = pickle
  extents?.add({ file: report.file, offset: 0, length: byteLength, path: 'metadata', kind: 'field' })
  if (byteLength < source.size) {
    const length = source.size - byteLength
    const message = `${length} bytes come after the end of the pickle`
    report.report(codes['trailing-bytes'], { offset: byteLength, length, path: 'metadata', message })
  }
  checkGlobals({ globals: pickle.globals, readCalls: () => pickle.calls }, 'metadata', context, { known })
  return new MetadataReader(context).read(value)
}

class MetadataReader {
  readonly #context: ReadContext

  constructor(context: ReadContext) {
    this.#context = context
  }

  read(root: PickleValue): Checkpoint {
    const { report } = this.#context
    const attributes = attributesOf(root, inMetadata('Metadata'))
    const described = dictOf(attributes?.get('state_dict_metadata'))
    const stored = dictOf(attributes?.get('storage_data'))
    if (!described || !stored) {
      const message = !attributes
        ? 'the pickle does not hold an object of the class Metadata'
        : `${described ? 'storage_data' : 'state_dict_metadata'} is not a dictionary`
      return report.fail(codes.metadata, { offset: 0, path: 'metadata', message })
    }
    const keys = dictOf(attributes?.get('planner_data'))
    const tensors: StatedTensor[] = []
    const objects: StatedObject[] = []
    for (const [name, value] of described.entries()) {
      if (typeof name !== 'string' || !(value instanceof PickleObject)) {
        const message = 'a name and its description were expected'
        report.report(codes.metadata, { offset: offsetOf(value), path: 'state_dict_metadata', message })
      } else if (value.className === inMetadata('BytesStorageMetadata')) {
        objects.push({ name: name.toWellFormed(), offset: value.offset })
      } else {
        const tensor = this.#tensor(name, value, keys)
        if (tensor) tensors.push(tensor)
      }
    }
    const version = attributes?.get('version')
    return { version: typeof version === 'string' ? version : undefined, tensors, objects, items: this.#items(stored) }
  }

  #tensor(given: string, value: PickleObject, keys: PickleDict | undefined): StatedTensor | undefined {
    const { report, onLost } = this.#context
    const name = given.toWellFormed()
    const { offset } = value
    const wrong = (code: 'tensor' | 'dtype' | 'shape-overflow' | 'chunk-bounds', message: string): undefined => {
      onLost?.({ subject: 'tensor', name, reason: message })
      report.report(codes[code], { offset, path: `state_dict_metadata[${JSON.stringify(name)}]`, message })
    }
    const attributes = attributesOf(value, inMetadata('TensorStorageMetadata'))
    if (!attributes) return wrong('tensor', 'it is neither a tensor nor an object')
    const shape = sizes(attributes.get('size'))
    const chunks = attributes.get('chunks')
    if (!shape || !(chunks instanceof PickleList)) return wrong('tensor', 'it has no size, or no list of chunks')
    const type = typeOf(attributes.get('properties'))
    const dtype = type && elementTypes.get(type)
    if (!dtype)
      return wrong('dtype', `its type is ${type === undefined ? 'not stated' : JSON.stringify(type.slice(0, 80))}`)
    const count = shape.includes(0) ? 0 : countElements(shape)
    if (count === undefined || !Number.isSafeInteger(count * dtype.group.bytes))
      return wrong('shape-overflow', `[${shape.join(', ')}] of ${dtype.id} is more than any file can hold`)
    const tiles: Tile[] = []
    for (const [i, chunk] of chunks.items.entries()) {
      const box = attributesOf(chunk, inMetadata('ChunkStorageMetadata'))
      const tile = { offsets: sizes(box?.get('offsets')), sizes: sizes(box?.get('sizes')) }
      if (!isTile(tile)) return wrong('tensor', `chunk ${i} has no offsets, or no sizes`)
      if (!fits(tile, shape)) {
        const message = `chunk ${i} from [${tile.offsets.join(', ')}] on, of [${tile.sizes.join(', ')}], in a tensor of [${shape.join(', ')}]`
        return wrong('chunk-bounds', message)
      }
      tiles.push(tile)
    }
    const path = keys?.get(given)
    const first = path instanceof PickleList ? path.items[0] : name
    const role = typeof first === 'string' && isOptimizerKey(first) ? 'state' : 'weight'
    return { name, dtype, shape, role, chunks: tiles, offset }
  }

  #items(stored: PickleDict): Item[] {
    const { report } = this.#context
    const items: Item[] = []
    for (const [key, value] of stored.entries()) {
      const item = itemOf(key, value)
      if (typeof item === 'object') {
        items.push(item)
        continue
      }
      const code = item === 'transformed' ? codes['item-transformed'] : codes.metadata
      const message = item === 'transformed' ? 'it was stored by way of an extension' : 'a place in a file was expected'
      report.report(code, { offset: offsetOf(value), path: `storage_data${shownKey(key)}`, message })
    }
    return items
  }
}

function itemOf(key: PickleValue, value: PickleValue): Item | 'wrong' | 'transformed' {
  const index = attributesOf(key, inMetadata('MetadataIndex'))
  const info = attributesOf(value, `${room}.filesystem._StorageInfo`)
  const name = index?.get('fqn')
  const file = info?.get('relative_path')
  const start = sizeOf(info?.get('offset'))
  const length = sizeOf(info?.get('length'))
  if (typeof name !== 'string' || typeof file !== 'string' || start === undefined || length === undefined)
    return 'wrong'
  const transforms = info?.get('transform_descriptors')
  if (transforms instanceof PickleList ? transforms.items.length > 0 : (transforms ?? null) !== null)
    return 'transformed'
  const stated = index?.get('offset') ?? null
  const at = stated === null ? undefined : sizes(stated)
  if (stated !== null && !at) return 'wrong'
  return { name: name.toWellFormed(), at: at && chunkKey(at), file, start, length, offset: offsetOf(value) }
}

/** The attributes of an object of this class. */
function attributesOf(value: PickleValue | undefined, className: string): PickleDict | undefined {
  return value instanceof PickleObject && value.className === className ? dictOf(value.state) : undefined
}

const dictOf = (value: PickleValue | undefined): PickleDict | undefined =>
  value instanceof PickleDict ? value : undefined

/** The properties of a tensor are a tuple that begins with the type, `torch.float32`. */
function typeOf(properties: PickleValue | undefined): string | undefined {
  if (!(properties instanceof PickleObject)) return undefined
  const { state } = properties
  const type = state instanceof PickleList ? state.items[0] : dictOf(state)?.get('dtype')
  return type instanceof PickleGlobal && type.module === 'torch' ? type.name : undefined
}

const isTile = (tile: { readonly [K in keyof Tile]: Tile[K] | undefined }): tile is Tile =>
  tile.offsets !== undefined && tile.sizes !== undefined

const fits = ({ offsets, sizes: lengths }: Tile, shape: readonly number[]): boolean =>
  offsets.length === shape.length &&
  lengths.length === shape.length &&
  shape.every((dim, axis) => offsets[axis]! + lengths[axis]! <= dim)

const sizeOf = (value: PickleValue | undefined): number | undefined =>
  typeof value === 'bigint' ? toSafe(value) : undefined

const offsetOf = (value: PickleValue | undefined): number => (value instanceof PickleObject ? value.offset : 0)

function shownKey(key: PickleValue): string {
  const name = attributesOf(key, inMetadata('MetadataIndex'))?.get('fqn')
  return typeof name === 'string' ? `[${JSON.stringify(name.slice(0, 200))}]` : ''
}
