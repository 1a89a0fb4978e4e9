// Data in other files. A tensor then has a list of texts by key: `location`, a path relative to the model's directory, and perhaps `offset`
// and `length`, as decimal numbers. The path is not to be trusted: it must lead to a file in that directory or below, and sources make
// sure that links do not lead out of it either.
import { type ByteSource, isPathBelow, toSafe } from '../../../bytes/index.js'
import { TareError } from '../../../errors/index.js'
import { type Payload, type ReadContext, rangePayload } from '../../../model/index.js'
import { ownCodes as codes } from '../codes.js'
import type { TensorDraft } from './tensor-draft.js'

/** The number of absent files after which no more are tried. */
const maxMissing = 1000

export interface ExternalData {
  /** All files that were opened. */
  readonly files: readonly ByteSource[]
  /** The `length` bytes that the shape wants; undefined, and reported, when they cannot be had. */
  payload(draft: TensorDraft, length: number): Promise<Payload | undefined>
}

export class ExternalFiles implements ExternalData {
  readonly #source: ByteSource
  readonly #context: ReadContext
  /** By normal path; undefined for those that cannot be opened, which is said once. */
  readonly #opened = new Map<string, ByteSource | undefined>()
  #missing = 0

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
  }

  get files(): readonly ByteSource[] {
    return [...this.#opened.values()].filter((file) => file !== undefined)
  }

  async payload(draft: TensorDraft, length: number): Promise<Payload | undefined> {
    const report = reporter(draft, this.#context)
    const location = draft.external?.get('location')
    if (location === undefined || location.value === '') {
      report('external-no-location', 'location', 'nothing says in which file')
      return undefined
    }
    const offset = readNumber(draft, 'offset')
    const stated = readNumber(draft, 'length')
    for (const [key, value] of [['offset', offset] as const, ['length', stated] as const]) {
      if (value !== 'bad') continue
      const message = `${JSON.stringify(draft.external?.get(key)?.value)} is not a decimal number`
      report('external-number', key, message)
    }
    if (draft.external?.has('checksum')) report('external-checksum', 'checksum', 'the checksum is not compared')
    const path = location.bytes ? undefined : normalPath(location.value)
    if (path === undefined) {
      const message = `${JSON.stringify(location.value)} is not a path to a file in the directory of the model`
      report('external-path', 'location', message)
      return undefined
    }
    const file = await this.#open(path, draft)
    if (!file || offset === 'bad' || stated === 'bad') return undefined
    return this.#range(file, offset ?? 0, stated, length, draft)
  }

  async #open(path: string, draft: TensorDraft): Promise<ByteSource | undefined> {
    if (this.#opened.has(path)) return this.#opened.get(path)
    let file: ByteSource | undefined
    try {
      const open = path.includes('/') ? this.#source.below : this.#source.sibling
      if (!open) throw new Error('this kind of input has no files beside it')
      if (this.#missing >= maxMissing) throw new Error(`${maxMissing} others cannot be, so it was not tried`)
      file = await open.call(this.#source, path)
    } catch (error) {
      const isUnsafe = error instanceof TareError && error.code === 'io/unsafe-path'
      const why = error instanceof TareError ? error.finding.message : (error as Error).message
      const message = `${JSON.stringify(path)} cannot be opened: ${why}`
      this.#missing++
      reporter(draft, this.#context)(isUnsafe ? 'external-path' : 'external-missing', 'location', message)
    }
    this.#opened.set(path, file)
    return file
  }

  #range(
    file: ByteSource,
    offset: number,
    stated: number | undefined,
    length: number,
    draft: TensorDraft,
  ): Payload | undefined {
    const report = reporter(draft, this.#context)
    const rest = file.size - offset
    if (rest < (stated ?? length)) {
      const message = `${stated ?? length} bytes from ${offset} on, but ${file.name} has ${file.size}`
      report('external-range', 'offset', message)
      return undefined
    }
    if (stated !== undefined && stated !== length) {
      report('size', 'length', `${stated} bytes, but type and shape take ${length}`)
      return undefined
    }
    if (stated === undefined && rest > length) {
      report('external-rest', 'length', `${rest} bytes are left from ${offset} on, type and shape take ${length}`)
    }
    const path = `data[${JSON.stringify(draft.name.value)}]`
    this.#context.extents?.add({ file: file.name, offset, length, path, kind: 'data' })
    return rangePayload(file, offset, length)
  }
}

type Tell = (code: keyof typeof codes, key: string, message: string) => void

const reporter =
  (draft: TensorDraft, { report }: ReadContext): Tell =>
  (code, key, message) =>
    report.report(codes[code], {
      offset: draft.pieces[0]?.start ?? 0,
      path: `${draft.path}.external_data[${JSON.stringify(key)}]`,
      message,
    })

function readNumber({ external }: TensorDraft, key: string): number | 'bad' | undefined {
  const text = external?.get(key)
  if (text === undefined) return undefined
  if (!/^[0-9]{1,20}$/.test(text.value)) return 'bad'
  // Beyond 2^53 it is past the end of every file.
  return toSafe(BigInt(text.value)) ?? Number.MAX_SAFE_INTEGER
}

/** The path without `./`; undefined when it leads anywhere but into the directory. */
function normalPath(location: string): string | undefined {
  if (location.startsWith('/')) return undefined
  const path = location
    .split('/')
    .filter((segment) => segment !== '.' && segment !== '')
    .join('/')
  return isPathBelow(path) ? path : undefined
}
