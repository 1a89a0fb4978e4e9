// The worker's side of a look: opens the files that it is about, as they were when it was asked for, and does what a thread would do.
import type { ByteSource, SharedPlace, SourceHandle } from '../../bytes/index.js'
import { failWith } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import {
  anything,
  count,
  either,
  fields,
  flag,
  list,
  oneOf,
  record,
  type Shape,
  text,
  tuple,
} from '../../jobs/shapes.js'
import type { WorkerPool } from '../../threads/index.js'
import { workerJobs } from '../../threads/worker-jobs.js'
import type { LookMessage } from './messages.js'
import { fromPlain } from './plain.js'
import { handlesIn, keyOf } from './pool.js'

type SharedHandle = Extract<SourceHandle, SharedPlace>

const handle = fields({
  kind: oneOf('shared'),
  ...{ name: text, size: count, address: text },
  steps: list(tuple([oneOf('sibling', 'below', 'sameOrigin'), text])),
  'version?': text,
})
const later =
  (shape: () => Shape): Shape =>
  (value, path, complain) =>
    shape()(value, path, complain)
const tensor: Shape = fields({
  ...{ name: text, dtype: text, 'encoding?': text, shape: list(count), order: oneOf('row', 'column') },
  data: later(() => recipe),
})
const recipe: Shape = either(
  fields({ kind: oneOf('range'), handle, offset: count, length: count }),
  fields({ kind: oneOf('decode'), tensor, as: oneOf('f32', 'f64') }),
  fields({ kind: oneOf('cast'), tensor, to: text, 'overflow?': flag }),
  fields({ kind: oneOf('made'), by: text, tensors: record(tensor), data: anything }),
)
const side = fields({ tensor, 'quant?': anything })

/** What can be asked for, and what it must look like. */
const kinds: Readonly<Record<string, Shape>> = {
  digest: fields({
    handle,
    ranges: list(fields({ start: count, end: count, algorithm: oneOf('blake3', 'sha256', 'crc32'), 'chunk?': count })),
  }),
  payload: fields({ recipe, algorithm: oneOf('blake3', 'sha256', 'crc32') }),
  compare: fields({
    ...{ a: handle, b: handle },
    slices: list(fields({ pair: count, start: count, a: count, b: count, length: count })),
  }),
  values: fields({ a: side, b: side, 'tolerance?': anything, 'metric?': text }),
  stats: fields({ tensor, 'bins?': count, 'exact?': flag }),
  range: fields({ tensor, domain: text }),
  measure: fields({ tensor, isGgml: flag, 'mode?': text, 'codes?': text, 'importance?': anything }),
}

export interface LookOptions {
  open(address: string): Promise<ByteSource>
  /** Throws unless this machine may touch a place. */
  assertAllowed(place: string): void
  readonly pool?: WorkerPool | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Looked {
  readonly answer: unknown
  readonly bytes: number
}

/** Files stay open, since most looks are about the same ones. */
const maxOpen = 64

export class Looks {
  readonly #options: LookOptions
  readonly #open = new Map<string, Promise<ByteSource>>()
  /** How many looks read a source. */
  readonly #users = new Map<Promise<ByteSource>, number>()

  constructor(options: LookOptions) {
    this.#options = options
  }

  async look({ job, kind, data }: LookMessage): Promise<Looked> {
    const shape = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    const complain = (path: string, message: string): never =>
      failWith(jobCodes.invalid, { file: `look ${job}`, path: path || 'kind', message })
    if (!shape) return complain('kind', `nobody here can do ${JSON.stringify(kind.slice(0, 40))}`)
    shape(data, 'data', complain)
    const asked = fromPlain(data)
    const handles = [...new Map([...handlesIn(asked)].map((each) => [keyOf(each), each as SharedHandle])).values()]
    const opening = handles.map((each) => this.#take(each))
    try {
      const sources = await Promise.all(opening)
      for (const [i, each] of handles.entries()) assertSame(each, sources[i]!)
      const looked = await this.#run(kind, asked, new Map(handles.map((each, i) => [keyOf(each), sources[i]!])))
      // What was read belongs to the files as they were, or it does not count.
      for (const source of sources) await source.assertUnchanged?.()
      return looked
    } catch (error) {
      // They may be other files by now.
      for (const [i, each] of handles.entries()) this.#forget(keyOf(each), opening[i]!)
      throw error
    } finally {
      for (const each of opening) this.#users.set(each, (this.#users.get(each) ?? 1) - 1)
      await this.#closeSome()
    }
  }

  /** On a thread of its own, where there are several and they can read the files. */
  async #run(kind: string, data: unknown, sources: ReadonlyMap<string, ByteSource>): Promise<Looked> {
    const { pool, signal = new AbortController().signal } = this.#options
    let bytes = 0
    const advance = (count: number): void => {
      bytes += count
    }
    const there = [...sources.values()]
    if (pool && there.every((source) => source.handle)) {
      const local = replaced(data, (each) => ({ ...sources.get(keyOf(each))!.handle!, name: each.name }))
      const job = { kind, data: local, file: there[0]?.name ?? kind, offset: 0 }
      return { answer: await pool.run(job, { signal, onAdvance: advance }), bytes }
    }
    const open = (each: SourceHandle): ByteSource => named(sources.get(keyOf(each))!, each.name)
    return { answer: await workerJobs[kind]!(data, undefined, { signal, advance, open }), bytes }
  }

  #take(wanted: SharedHandle): Promise<ByteSource> {
    const key = keyOf(wanted)
    const opening = this.#open.get(key) ?? this.#openOne(wanted)
    // The one that was used last is closed last.
    this.#open.delete(key)
    this.#open.set(key, opening)
    this.#users.set(opening, (this.#users.get(opening) ?? 0) + 1)
    opening.catch(() => this.#forget(key, opening))
    return opening
  }

  async #openOne({ address, steps }: SharedHandle): Promise<ByteSource> {
    const { open, assertAllowed } = this.#options
    assertAllowed(address)
    let source = await open(address)
    for (const [step, name] of steps) {
      const next = await source[step]?.(name)
      if (!next) return failWith(jobCodes.invalid, { file: address, message: `there is no ${name} beside it` })
      source = next
    }
    if (steps.length > 0) assertAllowed(source.name)
    return source
  }

  #forget(key: string, opening: Promise<ByteSource>): void {
    if (this.#open.get(key) !== opening) return
    this.#open.delete(key)
    void opening.then((source) => source.close()).catch(() => {})
  }

  async #closeSome(): Promise<void> {
    for (const [key, opening] of [...this.#open]) {
      if (this.#open.size <= maxOpen) return
      if ((this.#users.get(opening) ?? 0) > 0) continue
      this.#users.delete(opening)
      this.#forget(key, opening)
    }
  }

  async close(): Promise<void> {
    for (const [key, opening] of [...this.#open]) this.#forget(key, opening)
  }
}

function assertSame({ name, size, version }: SharedHandle, found: ByteSource): void {
  if (found.size === size && found.version === version) return
  const message = `it had ${size} bytes (${version ?? 'no version'}) when it was asked about, and has ${found.size} here (${found.version ?? 'no version'})`
  failWith(jobCodes['input-changed'], { file: name, message })
}

/** The bytes of a source under the name that it has for the one who asks. */
const named = (source: ByteSource, name: string): ByteSource => ({
  ...{ name, size: source.size },
  read: (offset, length, options) => source.read(offset, length, options),
  ...(source.readInto && { readInto: source.readInto.bind(source) }),
  async close() {},
})

function replaced(data: unknown, by: (handle: SourceHandle) => SourceHandle): unknown {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return data
  if (Array.isArray(data)) return data.map((each) => replaced(each, by))
  if ((data as { kind?: unknown }).kind === 'shared' && Object.hasOwn(data, 'address')) return by(data as SourceHandle)
  return Object.fromEntries(Object.entries(data).map(([key, each]) => [key, replaced(each, by)]))
}
