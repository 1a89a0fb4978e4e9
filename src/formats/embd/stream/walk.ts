// The stream layout, the one that the reference library reads and writes: no sections, no checksums, no element types.
//
//   "EMBD" · version u32 = 1 · tensor count u32 · tensors · token count u32 · tokens
//   tensor: name length u32 · name · rank u32 · rank × u32 · float32 data     token: length u32 · bytes
//
// The walk goes over the records and skips the data. It does not report: whether the file has this layout at all is decided by how
// far the walk gets. What it finds is kept until then.
import {
  type ByteSource,
  countElements,
  decodeLossy,
  decodeUtf8,
  type Extent,
  Shortage,
  WindowReader,
} from '../../../bytes/index.js'
import { TokenTable } from '../../../content/vocabulary.js'
import { f32 } from '../../../dtypes/index.js'
import { type Code, type Details, maxFindings, neededSize } from '../../../errors/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { bytesPerEntry, maxRank, maxStringLength, maxTokenCount } from '../structs.js'

export interface Problem {
  readonly code: Code
  readonly details: Details
}

export interface Walk {
  /** Where the records end; undefined when the walk had to stop before. */
  readonly end?: number | undefined
  /** What stopped it. */
  readonly fatal?: Problem | undefined
  readonly problems: readonly Problem[]
  readonly tensors: readonly Tensor[]
  readonly vocabulary?: TokenTable | undefined
  /** Whether the bytes where the first name should be could be a name. Other layouts have numbers or padding there. */
  readonly isPlausible: boolean
  readonly extents: readonly Extent[]
}

export async function walkStream(source: ByteSource, context: ReadContext): Promise<Walk> {
  const walker = new Walker(source, context)
  try {
    const end = await walker.walk()
    return { ...walker.result(), end }
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return { ...walker.result(), fatal: error.problem }
  }
}

/** Ends the walk; never leaves this file. */
class Stop extends Error {
  constructor(readonly problem: Problem) {
    super(problem.details.message)
  }
}

/** An early draft of the format, never in use, had names in fields of this size, filled up with zeros. */
const draftNameSize = 64

const shapeFields = ['shape[0]', 'shape[1]', 'shape[2]', 'shape[3]']

class Walker {
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #window: WindowReader
  readonly #tensors: Tensor[] = []
  readonly #names = new Set<string>()
  readonly #problems: Problem[] = []
  readonly #extents: Extent[] = []
  #vocabulary: TokenTable | undefined
  #isPlausible = true
  #at = 0
  /** What the paths of fields begin with. */
  #scope = ''
  /** The beginning of the record that is being read, and what was known there. */
  #mark = { at: 0, problems: 0, extents: 0 }

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
    this.#window = new WindowReader(source, { signal: context.signal })
  }

  result(): Walk {
    return {
      problems: this.#problems,
      tensors: this.#tensors,
      vocabulary: this.#vocabulary,
      isPlausible: this.#isPlausible,
      extents: this.#extents,
    }
  }

  async walk(): Promise<number> {
    let count = 0
    await this.#records(1, () => {
      count = this.#header()
    })
    await this.#records(count, (index) => this.#tensor(index))
    await this.#tokens()
    return this.#at
  }

  /** Reads records one after another. One that runs out of the window starts again when more bytes are there. */
  async #records(count: number, read: (index: number) => void): Promise<void> {
    let index = 0
    await this.#window.whole(() => {
      while (index < count) {
        this.#mark = { at: this.#at, problems: this.#problems.length, extents: this.#extents.length }
        read(index)
        index++
      }
    })
  }

  /** The number of tensors. */
  #header(): number {
    this.#scope = 'header.'
    this.#note(0, 4, 'magic', 'EMBD')
    this.#at = 4
    const version = this.#u32('truncated-header', 'version')
    if (version !== 1) this.#stop('version', 4, 'version', `version ${version}, but the stream layout has only 1`)
    const count = this.#u32('truncated-header', 'tensor_count')
    if (count > 0 && this.#exists(4)) this.#judgeFirstName()
    return count
  }

  #judgeFirstName(): void {
    const at = this.#at + 4
    const room = Math.min(this.#source.size - at, draftNameSize)
    this.#need(4 + room)
    const field = this.#window.slice(at, room)
    const length = this.#window.view.getUint32(this.#at - this.#window.offset, true)
    const end = field.indexOf(0)
    const isPadded = room === draftNameSize && end >= 0 && field.subarray(end).every((byte) => byte === 0)
    this.#isPlausible = field.subarray(0, Math.min(length, 3)).every((byte) => byte >= 0x20) && !isPadded
  }

  #tensor(index: number): void {
    this.#scope = `tensors[${index}].`
    const start = this.#at
    const bytes = this.#name()
    const rank = this.#u32('truncated-shape', 'ndim')
    if (rank < 1 || rank > maxRank)
      this.#stop('ndim', this.#at - 4, 'ndim', `${rank} dimensions, but only 1 to ${maxRank} are possible`)
    const shape = Array.from({ length: rank }, (_, i) => this.#dim(i))
    const size = this.#dataSize(shape)
    const name = decodeUtf8(bytes)
    const data = this.#at
    if (this.#context.extents) this.#extent(data, size, `data[${JSON.stringify(name ?? decodeLossy(bytes))}]`, 'data')
    this.#at += size
    if (name === undefined) {
      this.#complain('name-utf8', start + 4, 'name', 'the name is not UTF-8')
      return
    }
    if (name === '') this.#complain('empty-tensor-name', start, 'name', 'the name is empty')
    if (this.#names.has(name)) {
      this.#complain('duplicate-tensor-name', start + 4, 'name', `${JSON.stringify(name)} was there before`)
      return
    }
    this.#names.add(name)
    if ((this.#tensors.length + 1) * bytesPerEntry > this.#context.limits.indexBytes)
      this.#stop('index-limit', start, '', `more than ${this.#tensors.length} tensors are over the limit`)
    const payload = rangePayload(this.#source, data, size)
    this.#tensors.push({ name, dtype: f32, shape, order: 'row', role: 'weight', data: payload })
  }

  #name(): Uint8Array {
    const length = this.#u32('truncated-name', 'name_length')
    const offset = this.#at
    if (length > maxStringLength) this.#overlong(length, offset - 4, 'name_length')
    if (!this.#exists(length)) {
      const message = `${length} bytes, but only ${this.#source.size - offset} are left`
      const needs = length <= maxStringLength ? neededSize(offset + length) : {}
      this.#stop('truncated-name', offset - 4, 'name', message, needs)
    }
    if (length > this.#context.limits.indexBytes)
      this.#stop('index-limit', offset - 4, 'name', `a name of ${length} bytes is over the limit`)
    this.#need(length)
    const bytes = this.#window.slice(offset, length)
    if (this.#context.extents) this.#note(offset, length, 'name', decodeLossy(bytes.subarray(0, 200)))
    this.#at += length
    return bytes
  }

  #dim(index: number): number {
    const dim = this.#u32('truncated-shape', shapeFields[index]!)
    if (dim === 0) this.#stop('dim-zero', this.#at - 4, shapeFields[index]!, 'the dimension is 0')
    return dim
  }

  #dataSize(shape: readonly number[]): number {
    const text = (): string => `[${shape.join(', ')}] of f32`
    const size = countElements(shape) === undefined ? undefined : f32.byteLength(shape)
    if (size === undefined) {
      const message = `${text()} is more than any file can hold`
      return this.#stop('shape-overflow', this.#at - 4 * shape.length, 'shape', message)
    }
    if (!this.#exists(size)) {
      const left = this.#source.size - this.#at
      const message = `${text()} takes ${size} bytes, but only ${left} are left`
      this.#stop('truncated-data', this.#at, 'data', message, neededSize(this.#at + size))
    }
    return size
  }

  async #tokens(): Promise<void> {
    this.#scope = 'vocab.'
    let count = 0
    await this.#records(1, () => {
      count = this.#u32('truncated-vocab-count', 'count')
    })
    if (count === 0) return
    const start = this.#at
    if (count > maxTokenCount) {
      const message = `${count} tokens; the reference library reads at most ${maxTokenCount}`
      this.#complain('vocab-count-limit', start - 4, 'count', message)
    }
    if (!this.#exists(count * 4)) {
      const left = this.#source.size - start
      const message = `${count} tokens take at least ${count * 4} bytes, but only ${left} are left`
      this.#stop('truncated-token', start, 'tokens', message)
    }
    const limit = Math.min(this.#context.limits.indexBytes, 0xffffffff)
    // Two lists of u32 beside the bytes themselves.
    if (count * 8 > limit) this.#stop('index-limit', start - 4, 'count', `${count} tokens are over the limit`)
    const starts = new Uint32Array(count)
    const ends = new Uint32Array(count)
    await this.#records(count, (id) => {
      const at = this.#at
      this.#token(id)
      if (this.#at - start > limit) this.#stop('index-limit', at, `tokens[${id}]`, 'the tokens are over the limit')
      starts[id] = at + 4 - start
      ends[id] = this.#at - start
    })
    const bytes = await this.#source.read(start, this.#at - start, { signal: this.#context.signal })
    this.#vocabulary = new TokenTable(bytes, starts, ends)
    if (!this.#context.extents) return
    for (let id = 0; id < count; id++) {
      const token = this.#vocabulary.token(id)
      this.#note(start + starts[id]! - 4, token.byteLength + 4, `tokens[${id}]`, decodeLossy(token))
    }
  }

  /** Steps over a token. */
  #token(id: number): void {
    const at = this.#at
    const path = (): string => `tokens[${id}]`
    if (!this.#exists(4)) this.#stop('truncated-token', at, path(), 'the length is cut off')
    this.#need(4)
    const length = this.#window.view.getUint32(at - this.#window.offset, true)
    this.#at += 4
    if (length > maxStringLength) this.#overlong(length, at, path())
    if (!this.#exists(length)) {
      const message = `a token of ${length} bytes, but only ${this.#source.size - at - 4} are left`
      this.#stop('truncated-token', at, path(), message)
    }
    this.#at += length
  }

  #u32(code: keyof typeof codes, field: string): number {
    const at = this.#at
    if (!this.#exists(4)) {
      const left = Math.max(0, this.#source.size - at)
      const message = `4 bytes are needed here, but only ${left} are left`
      this.#stop(code, Math.min(at, this.#source.size), field, message, { needs: at + 4 })
    }
    this.#need(4)
    const value = this.#window.view.getUint32(at - this.#window.offset, true)
    this.#note(at, 4, field, value)
    this.#at += 4
    return value
  }

  /** Whether the file has this many bytes from here on. */
  #exists(length: number): boolean {
    return this.#at + length <= this.#source.size
  }

  /** Goes back to the beginning of the record unless the next bytes are at hand. */
  #need(length: number): void {
    const { at, problems, extents } = this.#mark
    const needed = this.#at + length - at
    if (this.#window.holds(at, needed)) return
    this.#at = at
    this.#problems.length = problems
    this.#extents.length = extents
    throw new Shortage(at, needed)
  }

  #overlong(length: number, offset: number, field: string): void {
    const message = `${length} bytes; the reference library reads at most ${maxStringLength}`
    this.#complain('string-length-limit', offset, field, message)
  }

  #complain(code: keyof typeof codes, offset: number, field: string, message: string): void {
    const details = { offset, path: this.#scope + field, message }
    if (this.#problems.length < maxFindings) this.#problems.push({ code: codes[code], details })
  }

  #stop(
    code: keyof typeof codes,
    offset: number,
    field: string,
    message: string,
    needs: { readonly needs?: number } = {},
  ): never {
    const path = field === '' ? this.#scope.slice(0, -1) : this.#scope + field
    throw new Stop({ code: codes[code], details: { offset, path, message, ...needs } })
  }

  #note(offset: number, length: number, field: string, value?: string | number): void {
    if (this.#context.extents) this.#extent(offset, length, this.#scope + field, 'field', value)
  }

  #extent(offset: number, length: number, path: string, kind: Extent['kind'], value?: string | number): void {
    this.#extents.push({ file: this.#source.name, offset, length, path, kind, value })
  }
}
