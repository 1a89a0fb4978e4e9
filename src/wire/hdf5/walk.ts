// Goes through a file from its root group and tells about every group and dataset. Objects that can be reached on several ways are read once.
import { elementsIn } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import { type Attribute, attributesOf } from './attributes.js'
import { type Chunk, readChunks } from './chunks.js'
import { hdf5Codes as codes } from './codes.js'
import { type Dataspace, readDataspace } from './dataspace.js'
import { type ElementType, readDatatype } from './datatype.js'
import type { Hdf5File } from './file.js'
import { isGroup, linksOf } from './groups.js'
import { TextHeap } from './heaps.js'
import { type Filter, readFilters, readLayout } from './layout.js'
import { fieldsOf, type Message, type ObjectHeader, readObject } from './object.js'
import { readSuperblock } from './superblock.js'

export interface ChunkedStorage {
  readonly kind: 'chunks'
  readonly chunk: readonly number[]
  readonly filters: readonly Filter[]
  readonly plainEdges: boolean
  readonly chunks: readonly Chunk[]
}

export interface StoredRange {
  readonly kind: 'range'
  readonly offset: number
  readonly length: number
  /** It is a part of the dataset's header. */
  readonly isInHeader?: true
}

export interface Dataset {
  readonly type: ElementType
  readonly shape: readonly number[]
  /** Where the elements are in the file. */
  readonly storage: StoredRange | ChunkedStorage
  readonly attributes: readonly Attribute[]
  /** Where its header is. */
  readonly offset: number
}

export interface Hdf5Visitor {
  group(names: readonly string[], attributes: readonly Attribute[]): void
  dataset(names: readonly string[], dataset: Dataset): void
}

/** How messages write the path of an object. */
export const objectPath = (names: readonly string[]): string => `objects[${JSON.stringify(`/${names.join('/')}`)}]`

/** Returns the version of the superblock. */
export async function walkHdf5(file: Hdf5File, visitor: Hdf5Visitor): Promise<number> {
  const { version, root } = await readSuperblock(file)
  await new Walk(file, visitor).visit(root, [])
  file.checkOverlaps()
  return version
}

class Walk {
  readonly #file: Hdf5File
  readonly #visitor: Hdf5Visitor
  readonly #texts: TextHeap
  /** Datasets by the address of their header; undefined for groups, and for what could not be read. */
  readonly #seen = new Map<number, Dataset | undefined>()

  readonly #types = new Map<number, ObjectHeader>()

  constructor(file: Hdf5File, visitor: Hdf5Visitor) {
    this.#file = file
    this.#visitor = visitor
    this.#texts = new TextHeap(file)
  }

  async visit(address: number, names: readonly string[]): Promise<void> {
    const { report, context, base } = this.#file
    const path = objectPath(names)
    const details = { offset: base + address, path }
    if (this.#seen.has(address)) {
      const known = this.#seen.get(address)
      if (known) this.#visitDataset(names, known)
      else report.report(codes['group-again'], { ...details, message: 'it was listed before' })
      return
    }
    this.#seen.set(address, undefined)
    if (names.length > context.maxDepth)
      report.fail(codes.depth, { ...details, message: `more than ${context.maxDepth} groups in each other` })
    const object = await this.#object(address, path)
    if (isGroup(object)) await this.#visitGroup(object, names)
    else if (object.find('layout')) {
      const dataset = await this.#dataset(object)
      this.#seen.set(address, dataset)
      if (dataset) this.#visitDataset(names, dataset)
      else report.report(codes.nothing, { ...details, message: 'it has a type and no elements' })
    }
  }

  #visitDataset(names: readonly string[], dataset: Dataset): void {
    this.#file.takePath(names, dataset.attributes.length, dataset.offset)
    this.#visitor.dataset(names, dataset)
  }

  async #visitGroup(object: ObjectHeader, names: readonly string[]): Promise<void> {
    const { report } = this.#file
    const attributes = await attributesOf(this.#file, object, this.#texts)
    this.#file.takePath(names, attributes.length, object.offset)
    this.#visitor.group(names, attributes)
    for (const link of await linksOf(this.#file, object)) {
      const path = [...names, link.name]
      this.#file.takePath(path, 1, link.offset)
      if (link.address === undefined) {
        const details = { offset: link.offset, path: objectPath(path) }
        report.report(codes.link, { ...details, message: 'the link is not followed' })
        continue
      }
      try {
        await this.visit(link.address, path)
      } catch (error) {
        // It was reported; where findings are collected, the other members are read as well.
        if (report.strict || !(error instanceof TareError) || !isAboutFile(error)) throw error
        this.#file.context.onLost?.(path.join('/'), error.finding.message)
      }
    }
  }

  /** Undefined if it is declared to hold nothing, not even a shape. */
  async #dataset(object: ObjectHeader): Promise<Dataset | undefined> {
    const file = this.#file
    const { path, offset } = object
    const type = await this.#type(object)
    const space = object.find('dataspace')
    if (!space || space.isShared)
      return file.report.fail(codes.dataspace, { offset, path, message: 'it says nothing about its dimensions' })
    const extent = readDataspace(file, fieldsOf(file, space))
    if (!extent) return undefined
    const { shape, maxShape } = extent
    const length = elementsIn(shape)! * type.size
    if (!Number.isSafeInteger(length))
      file.report.fail(codes.dataspace, {
        offset,
        path,
        message: `[${shape.join(', ')}] is more than any file can hold`,
      })
    if (object.find('external')) {
      const message = 'its data are in other files; write the file again with h5repack'
      file.report.fail(codes.unsupported, { offset, path, message })
    }
    const storage = await this.#storage(object, type, { shape, maxShape }, length)
    return { type, shape, storage, attributes: await attributesOf(file, object, this.#texts), offset }
  }

  async #type(object: ObjectHeader): Promise<ElementType> {
    const file = this.#file
    const { path, offset } = object
    let message = object.find('datatype')
    if (message?.isShared) message = await this.#sharedType(message)
    if (!message)
      return file.report.fail(codes.datatype, { offset, path, message: 'it does not state the type of its elements' })
    return readDatatype(file, fieldsOf(file, message))
  }

  /** Types can have a name, and an object header of their own. */
  async #sharedType(message: Message): Promise<Message | undefined> {
    const file = this.#file
    const fields = fieldsOf(file, message)
    const version = file.version(fields, [1, 2, 3])
    const kind = fields.u8('type')
    if (version === 1) fields.raw(6, 'reserved')
    const isInHeap = version === 3 && kind !== 2
    if (isInHeap) {
      const details = { offset: message.offset, path: message.path, message: 'its type is kept in a heap' }
      file.report.fail(codes.unsupported, details)
    }
    const address = file.neededAddress(fields, 'address')
    const type = (await this.#object(address, `${message.path}.named`)).find('datatype')
    return type?.isShared ? undefined : type
  }

  /** Types with a name are met as members of a group, and by the datasets that have them. */
  async #object(address: number, path: string): Promise<ObjectHeader> {
    const object = this.#types.get(address) ?? (await readObject(this.#file, address, path))
    if (!object.find('layout') && !isGroup(object)) this.#types.set(address, object)
    return object
  }

  async #storage(
    object: ObjectHeader,
    type: ElementType,
    { shape, maxShape }: Dataspace,
    length: number,
  ): Promise<Dataset['storage']> {
    const file = this.#file
    const { path, offset } = object
    const layout = readLayout(file, object.find('layout')!)
    const wrong = (message: string): never => file.report.fail(codes.layout, { offset, path, message })
    if (layout.kind === 'compact') {
      if (layout.length < length) wrong(`${layout.length} bytes are there, ${length} are needed`)
      return { kind: 'range', offset: layout.offset, length, isInHeader: true }
    }
    if (layout.kind === 'contiguous') {
      if (length === 0) return { kind: 'range', offset: file.base, length }
      if (layout.length !== undefined && layout.length !== length)
        wrong(`${layout.length} bytes are there, ${length} are needed`)
      if (layout.address === undefined)
        return file.report.fail(codes.unwritten, { offset, path, message: 'its data have no address' })
      const place = file.place(layout.address, length, { offset, path })
      file.claim(layout.address, length, `${path}.data`)
      return { kind: 'range', offset: place, length }
    }
    const { chunk, elementSize, plainEdges } = layout
    if (chunk.length !== shape.length || elementSize !== type.size)
      wrong(`chunks of [${chunk.join(', ')}] for [${shape.join(', ')}]`)
    const filtered = object.find('filters')
    const filters = filtered ? readFilters(file, filtered) : []
    const chunkBytes = chunk.reduce((all, dim) => all * dim, elementSize)
    const chunks = await readChunks(
      file,
      { ...layout, shape, maxShape, isFiltered: filters.length > 0, chunkBytes },
      path,
      offset,
    )
    checkChunks(file, chunks, chunkBytes, { filters, path })
    return { kind: 'chunks', chunk, filters, plainEdges, chunks }
  }
}

/** How much of a chunk is unpacked into memory. */
const maxChunk = 1 << 28
/** Deflate makes no more of a byte. */
const bestRatio = 1032

function checkChunks(
  { report }: Hdf5File,
  chunks: readonly Chunk[],
  length: number,
  { filters, path }: { readonly filters: readonly Filter[]; readonly path: string },
): void {
  const ratio = filters.includes('deflate') ? bestRatio : 1
  for (const { offset, size, offsets } of chunks) {
    if (length <= maxChunk && length <= ratio * size) continue
    const message = `the chunk at [${offsets.join(', ')}] has ${size} bytes, which stand for ${length}`
    report.fail(codes['chunk-size'], { offset, length: size, path, message })
  }
}

const about = new Set(Object.values(codes).map(({ code }) => code as string))
const isAboutFile = ({ code }: TareError): boolean => about.has(code) || code.startsWith('number/')
