// The parts of a job in an object store. They are parts of a multipart upload, whose id stands in the job: workers upload them from anywhere, or
// have the store copy them, and the object appears when the upload is completed. Results are small objects below a prefix beside the output.

import type { ByteRange, ByteSource } from '../../bytes/index.js'
import { encodeUtf8 } from '../../bytes/index.js'
import { failWith, ioCodes, usageCodes } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import type { Job } from '../../jobs/job.js'
import { formatJob } from '../../jobs/parse-job.js'
import {
  formatResult,
  type KnownResults,
  longName,
  resultName,
  resultsNamed,
  type TaskResult,
} from '../../jobs/result.js'
import type { JobStore, LateBytes, PlannedWork } from '../../jobs/store.js'
import type { RangeTask, Task } from '../../jobs/tasks.js'
import { parseS3Address } from '../../remote/s3/address.js'
import type { S3Client } from '../../remote/s3/client.js'
import { Limiter } from '../../remote/s3/limiter.js'
import { listObjects } from '../../remote/s3/list.js'
import { assertSameObject, headObject } from '../../remote/s3/object.js'
import {
  abortUpload,
  completeUpload,
  copyPart,
  createUpload,
  listParts,
  putObject,
  uploadPart,
} from '../../remote/s3/upload.js'
import { layoutSource } from '../../writing/layout-source.js'
import { type OutputRange, rangeOf } from '../../writing/ranges/range-of.js'
import { clientFor } from '../remote/open-s3.js'

const never = new AbortController().signal
/** How many small requests, or late parts, are under way at once. */
const parallel = 4

export class S3Store implements JobStore {
  readonly limits: JobStore['limits']
  readonly #client: S3Client
  readonly #job: Job
  readonly #keys: readonly string[]
  /** Where results are. */
  readonly #prefix: string

  private constructor(client: S3Client, job: Job) {
    const { key } = parseS3Address(`${job.output.directory.replace(/\/+$/, '')}/`)
    this.#client = client
    this.#job = job
    this.#keys = job.files.map(({ name }) => key + name)
    this.#prefix = `${job.output.isFolder ? key.replace(/\/$/, '') : this.#keys[0]}.job-${job.id}/`
    this.limits = limitsOf(client)
  }

  static async open(job: Job): Promise<S3Store> {
    return new S3Store(await storeAt(job.output.directory), job)
  }

  /** Starts the uploads. The job with their ids is what workers need. */
  static async start(job: Job, signal = never): Promise<{ readonly job: Job; readonly store: S3Store }> {
    const store = await S3Store.open(job)
    if (!job.output.overwrite) await store.#assertAbsent(signal)
    const files = []
    for (const [i, file] of job.files.entries())
      files.push(
        file.size === 0 ? file : { ...file, upload: await createUpload(store.#client, store.#keys[i]!, signal) },
      )
    const started = { ...job, files }
    const known = new S3Store(store.#client, started)
    await known.#put('job.json', formatJob(started))
    return { job: started, store: known }
  }

  get jobAddress(): string {
    return this.#client.nameOfKey(`${this.#prefix}job.json`)
  }

  async #put(name: string, text: string): Promise<void> {
    await putObject(this.#client, this.#prefix + name, encodeUtf8(text) as Uint8Array<ArrayBuffer>, false, never)
  }

  /** A part is done when its result is there and the upload has it; results alone may be those of an upload that was given up. */
  async done(tasks: readonly Task[]): Promise<ReadonlySet<number>> {
    const results = await this.#list()
    const sizes = await this.#partSizes()
    return new Set(tasks.filter((task) => results.has(task.number) && isThere(task, sizes)).map(({ number }) => number))
  }

  async results(): Promise<KnownResults> {
    await this.#partSizes() // says so when the job is gone
    return this.#list()
  }

  async #list(): Promise<KnownResults> {
    const start = `${this.#prefix}results/`
    const { objects } = await listObjects(this.#client, start)
    return resultsNamed(objects.map(({ key }) => key.slice(start.length)))
  }

  async isFinished(): Promise<boolean> {
    for (const [i, { size, upload }] of this.#job.files.entries()) {
      if (upload !== undefined && (await listParts(this.#client, this.#keys[i]!, upload, never))) return false
      if ((await headObject(this.#client, this.#keys[i]!))?.size !== size) return false
    }
    return true
  }

  /** The parts of each upload; undefined where it is complete or was given up. */
  async #partSizes(): Promise<(ReadonlyMap<number, number> | undefined)[]> {
    const sizes: (ReadonlyMap<number, number> | undefined)[] = []
    for (const [i, { upload, size }] of this.#job.files.entries()) {
      const parts = upload === undefined ? [] : await listParts(this.#client, this.#keys[i]!, upload, never)
      if (!parts && !(await this.#isComplete(i, size)))
        failWith(jobCodes.gone, {
          file: this.#nameOf(i),
          message: 'the upload that collects its parts is gone: the job was finished or discarded',
        })
      sizes.push(parts && new Map(parts.map((part) => [part.number, part.size])))
    }
    return sizes
  }

  /** Whether a finisher has completed the upload already. */
  async #isComplete(file: number, size: number): Promise<boolean> {
    const isMeant = (await this.#get(markOf(file))) !== undefined
    return isMeant && (await headObject(this.#client, this.#keys[file]!))?.size === size
  }

  #nameOf(file: number): string {
    return this.#client.nameOfKey(this.#keys[file]!)
  }

  #uploadOf(file: number): string {
    const { upload } = this.#job.files[file]!
    return upload ?? failWith(jobCodes.invalid, { file: this.#nameOf(file), path: 'upload', message: 'it is missing' })
  }

  /** Late parts are not kept: the finisher makes them when all of their bytes are known. */
  async write({ file, part, from, to, isLate }: RangeTask, range: OutputRange, signal = never): Promise<void> {
    const bytes = new Uint8Array(isLate ? 0 : to - from)
    for await (const piece of range.placed()) if (!isLate) bytes.set(piece.bytes, piece.at - from)
    if (!isLate) await uploadPart(this.#client, this.#keys[file]!, this.#uploadOf(file), part, bytes, signal)
  }

  async copy({ file, part, copyOf, from, to }: RangeTask, signal = never): Promise<void> {
    const range = { object: copyOf!.source.stored!, offset: copyOf!.offset }
    await copyPart(this.#client, this.#keys[file]!, this.#uploadOf(file), part, range, to - from, signal)
  }

  async putResult(job: string, result: TaskResult): Promise<void> {
    const name = resultName(result)
    await this.#put(`results/${name}`, name === longName(result.task) ? formatResult(job, result) : '')
  }

  async result(task: number): Promise<{ readonly name: string; readonly text: string } | undefined> {
    return this.#get(`results/${longName(task)}`)
  }

  async #get(name: string): Promise<{ readonly name: string; readonly text: string } | undefined> {
    const key = this.#prefix + name
    const { status, text } = await this.#client.request({ method: 'GET', key }, never, [404])
    return status === 404 ? undefined : { name: this.#client.nameOfKey(key), text }
  }

  /** Makes the late parts, has everything opened again, and completes the uploads, that of the main file last. */
  async commit(
    { conversion, tasks }: PlannedWork,
    late: LateBytes,
    assertOpens: (written: ByteSource) => Promise<void>,
    signal = never,
  ): Promise<void> {
    const { layout } = conversion
    const open = await this.#partSizes()
    const uploads = new Limiter(parallel)
    for (const task of tasks) {
      if (task.kind !== 'range' || !task.isLate || !open[task.file]) continue
      const name = layout.files[task.file]!.name
      const range = rangeOf(layout, name, task.from, task.to, { signal, late: late[task.file] })
      const { isLate: _, ...known } = task
      await uploads.run(() => this.write(known, range, signal))
    }
    await uploads.drain()
    const made = layout.files.map((file, i) => ({ file, digests: late[i]! }))
    await assertOpens(layoutSource(made, this.#nameOf(0)))
    await this.#assertSources(tasks, signal)
    if (!this.#job.output.overwrite && open.every((parts) => parts !== undefined)) await this.#assertAbsent(signal)
    for (const i of [...this.#job.files.keys()].reverse()) await this.#completeFile(i, tasks, signal)
    await this.#removeResults()
  }

  async #assertSources(tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const sources = new Set(tasks.flatMap((task) => (task.kind === 'range' && task.copyOf ? [task.copyOf.source] : [])))
    for (const { stored } of sources)
      if (stored) await assertSameObject(this.#client.forBucket(stored.bucket), stored, signal)
  }

  async #completeFile(file: number, tasks: readonly Task[], signal: AbortSignal): Promise<void> {
    const { size, upload } = this.#job.files[file]!
    const key = this.#keys[file]!
    const isNew = !this.#job.output.overwrite
    if (upload === undefined) return void (await putObject(this.#client, key, new Uint8Array(), isNew, signal))
    const stored = await listParts(this.#client, key, upload, signal)
    if (!stored && (await this.#isComplete(file, size))) return
    const wanted = tasks.filter((task): task is RangeTask => task.kind === 'range' && task.file === file)
    const etags = wanted.map(({ part, from, to }) => {
      const found = stored?.find((each) => each.number === part)
      if (found?.size === to - from) return found.etag
      const message = `part ${part} of the upload is missing, or has another size; \`tare work\` makes it again`
      return failWith(jobCodes.incomplete, { file: this.#nameOf(file), offset: from, length: to - from, message })
    })
    // From here on an upload that is gone was completed.
    await this.#put(markOf(file), '{}')
    const isDone = await completeUpload(this.#client, key, upload, { etags, size, isNew }, signal)
    if (!isDone) this.#failExists(file)
  }

  async #assertAbsent(signal: AbortSignal): Promise<void> {
    for (const [i, key] of this.#keys.entries()) if (await headObject(this.#client, key, signal)) this.#failExists(i)
  }

  #failExists(file: number): never {
    return failWith(ioCodes.exists, { file: this.#nameOf(file), message: 'it is there already' })
  }

  async #removeResults(): Promise<void> {
    const { objects } = await listObjects(this.#client, this.#prefix, { deep: true })
    const removals = new Limiter(parallel)
    for (const { key } of objects)
      removals.queue(async () => void (await this.#client.request({ method: 'DELETE', key }, never, [404])))
    await removals.drain()
  }

  async discard(): Promise<void> {
    for (const [i, { upload }] of this.#job.files.entries())
      if (upload !== undefined) await abortUpload(this.#client, this.#keys[i]!, upload, never)
    await this.#removeResults()
  }
}

/** Says that a file is about to be completed. */
const markOf = (file: number): string => `completing-${file}.json`

/** What parts below an address must be like. */
export const storeLimits = async (address: string): Promise<JobStore['limits']> => limitsOf(await storeAt(address))

async function storeAt(address: string): Promise<S3Client> {
  const client = await clientFor(parseS3Address(address))
  if (!client.isGoogle) return client
  const message = 'many machines cannot write there: it needs conditions that this store knows in a form of its own'
  return failWith(usageCodes.option, { file: address, message })
}

/** It copies what lies in it already. */
const limitsOf = ({ store }: S3Client): JobStore['limits'] => ({
  isStored: true,
  canCopy: ({ source }: ByteRange) => source.stored?.store === store,
})

function isThere(task: Task, sizes: readonly (ReadonlyMap<number, number> | undefined)[]): boolean {
  if (task.kind !== 'range' || task.isLate) return true
  const parts = sizes[task.file]
  return !parts || parts.get(task.part) === task.to - task.from
}
