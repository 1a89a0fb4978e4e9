// Conversions that many machines carry out together: a job is planned once, worked on anywhere, and finished when all of its parts are there.
import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type PlanOptions, planSettings } from '../../api/convert.js'
import { requireHost } from '../../api/host.js'
import type { ByteSource } from '../../bytes/index.js'
import type { Loss, Plan } from '../../convert/plan.js'
import { assertOpens, collectorFor } from '../../convert/run.js'
import { type Finding, failWith, ioCodes, usageCodes } from '../../errors/index.js'
import type { FormatId } from '../../formats/index.js'
import { jobCodes } from '../../jobs/codes.js'
import { joinAnswers, joinResults } from '../../jobs/finish.js'
import type { Job } from '../../jobs/job.js'
import {
  type JobRequest,
  type MadeJob,
  type MadeLooks,
  type MakeJobOptions,
  makeJob,
  makeNextJob,
} from '../../jobs/make-job.js'
import { type OpenJob, openJob, openLooks } from '../../jobs/open-job.js'
import { formatJob, parseJob } from '../../jobs/parse-job.js'
import type { JobStore } from '../../jobs/store.js'
import { shareOf, type Task } from '../../jobs/tasks.js'
import { workOn } from '../../jobs/work.js'
import type { WorkerPool } from '../../threads/index.js'
import { withIoErrors } from '../files/io-error.js'
import { type InputOptions, openInput } from '../input.js'
import { isRemote } from '../remote/remote-input.js'
import { packageVersion } from '../version.js'
import { FileStore, writeWhole } from './file-store.js'

export type { Job } from '../../jobs/job.js'

/** How a job is opened and worked on. */
export interface JobRunOptions extends Pick<InputOptions, 'headers' | 'cache' | 'onFinding' | 'signal'> {
  /** Threads for what is large. */
  readonly pool?: WorkerPool | undefined
  /** Called as bytes are made. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
  /** Called between two steps that leave much garbage. */
  readonly collectGarbage?: (() => void) | undefined
  /** Makes an input known to those who look at it while a job is planned. */
  readonly share?: ((source: ByteSource, address: string) => ByteSource) | undefined
}

/** What a job can be asked for. */
export interface PlanJobOptions extends Omit<PlanOptions, 'pool' | 'signal' | 'stateFrom' | 'parts'>, JobRunOptions {
  /** The format to write. Default: the one that the name of the output says. */
  readonly to?: FormatId | undefined
  readonly overwrite?: boolean | undefined
  readonly allowLoss?: Loss | undefined
  readonly allowDamage?: boolean | undefined
  /** The size that parts should have. Default: 64 MiB. */
  readonly partSize?: number | undefined
  /**
   * Leave reading values that the layout depends on (ranges for quantizers, equal tensors, errors for a size) to workers: the job begins with
   * looks at them, and `finishJob` gives the next one. Default: planning reads them here.
   */
  readonly leaveLooks?: boolean | undefined
}

/** A job, and what it will do to the model. */
export interface PlannedJob {
  readonly job: Job
  /** Absent while values have to be looked at. */
  readonly plan?: Plan | undefined
}

/**
 * Plans a conversion that many machines carry out together. The input and the output are paths that all of them see, or addresses. The job is
 * plain JSON: hand it to workers, and call `workOnJob` there and `finishJob` at last.
 *
 * @example
 * const { job } = await planJob('/shared/model.safetensors', '/shared/model.gguf', { quantize: 'q4_k' })
 * await workOnJob(job, { part: 1, parts: 2 }) // and part 2 elsewhere
 * await finishJob(job)
 */
export async function planJob(input: string, output: string, options: PlanJobOptions = {}): Promise<PlannedJob> {
  const { to, overwrite = true, allowLoss, allowDamage, partSize, leaveLooks, ...rest } = options
  const { headers, cache, onFinding, signal, pool, onProgress, collectGarbage, ...plan } = rest
  const place = await requireHost(output).place(output, { to, inputs: [] })
  const directory = place.pathOf('')
  const { format: target, name, folder: isFolder } = place
  return startJob(
    {
      inputs: [{ role: 'model', address: input }],
      place: () => ({ target, name, directory, isFolder }),
      options: planSettings(target, plan),
      ...{ overwrite, allowLoss, allowDamage, partSize, leaveLooks },
    },
    output,
    { headers, cache, onFinding, signal, pool, onProgress, collectGarbage },
  )
}

/** The same with inputs beside the model, and a place that the model can decide. */
export async function startJob(request: JobRequest, output: string, options: JobRunOptions): Promise<PlannedJob> {
  const started = await start(request, output, options)
  await started.close()
  return { job: started.job, plan: 'conversion' in started ? started.conversion.plan : undefined }
}

/** The same for one who goes on with it: with the plan that was made. The caller closes it. */
export async function startOpenJob(
  request: Omit<JobRequest, 'leaveLooks'>,
  output: string,
  options: JobRunOptions,
): Promise<OpenJob> {
  return (await start(request, output, options)) as OpenJob
}

async function start(request: JobRequest, output: string, options: JobRunOptions): Promise<Started> {
  const asked: JobRequest = {
    ...request,
    inputs: request.inputs.map((input) => ({
      ...input,
      address: everywhere(input.address),
      ...(isBareName(input.address) && { name: input.address }),
    })),
    place(model) {
      const place = request.place(model)
      return { ...place, directory: everywhere(place.directory) }
    },
    onScan: options.onProgress,
  }
  return collected(output, options, (how) => makeJob(asked, how))
}

type Started = OpenJob | { readonly job: Job; readonly store: JobStore; close(): Promise<void> }

/** Makes a job, and the place where its parts are collected. */
async function collected(
  output: string,
  options: JobRunOptions,
  make: (how: MakeJobOptions) => Promise<MadeJob | MadeLooks>,
): Promise<Started> {
  const s3 = isRemote(everywhere(output)) ? await import('./s3-store.js') : undefined
  const limits = s3 ? await s3.storeLimits(output) : { isStored: false }
  const { job, inputs, ...planned } = await make({ ...runOptions(options), limits })
  try {
    await assertNotInput(job)
    const started = s3 ? await s3.S3Store.start(job, options.signal) : { job, store: new FileStore(job) }
    if (started.store instanceof FileStore) await started.store.prepare()
    return { ...planned, ...started, inputs, close: inputs.close }
  } catch (error) {
    await inputs.close()
    throw error
  }
}

const runOptions = (options: JobRunOptions) => ({
  ...options,
  tare: packageVersion(),
  open: async (address: string) => {
    const source = await openInput(address, options)
    return options.share?.(source, address) ?? source
  },
})

/** A path as all machines must see it. */
function everywhere(path: string): string {
  if (path === '-')
    failWith(usageCodes.option, { file: path, message: 'workers need a file or an address, and not a pipe' })
  return isRemote(path) ? path : resolve(path)
}

const isBareName = (path: string): boolean => basename(path) === path && path !== '.' && path !== '..'

/** A model is not written over itself. */
async function assertNotInput(job: Job): Promise<void> {
  const idOf = async (path: string): Promise<string> => {
    const there = isRemote(path) ? undefined : await stat(path).catch(() => undefined)
    return there ? `${there.dev} ${there.ino}` : path
  }
  const targets = new Set(await Promise.all(filesOf(job).map(({ name }) => idOf(name))))
  for (const { name } of job.inputs.flatMap(({ files }) => files))
    if (targets.has(await idOf(name)))
      failWith(ioCodes.exists, { file: name, message: 'this is an input; choose another name for the output' })
}

async function storeOf(job: Job): Promise<JobStore> {
  if (!isRemote(job.output.directory)) return new FileStore(job)
  return (await import('./s3-store.js')).S3Store.open(job)
}

/** A job from its file, which can also be in an object store. */
export async function readJob(address: string, options: JobRunOptions = {}): Promise<Job> {
  if (!isRemote(address)) return parseJob(await withIoErrors(address, () => readFile(address, 'utf8')), address)
  const source = await openInput(address, options)
  try {
    if (source.size > maxJob) failWith(jobCodes.invalid, { file: address, message: `it has ${source.size} bytes` })
    return parseJob(new TextDecoder().decode(await source.read(0, source.size, options)), address)
  } finally {
    await source.close()
  }
}

/** Writes the file of a job. It holds no secrets. */
export async function writeJob(job: Job, path: string): Promise<void> {
  await withIoErrors(path, () => writeWhole(path, formatJob(job)))
}

/** With methods and new names for a million tensors, a job is still far shorter. */
const maxJob = 1 << 29

const jobOf = async (job: Job | string, options: JobRunOptions): Promise<Job> =>
  typeof job === 'string' ? readJob(job, options) : parseJob(formatJob(job), job.files[0]?.name ?? 'job')

/** Opens a job for work: plans it, once for all of its parts. `check` may refuse it first. The caller closes it. */
export async function openForWork(
  job: Job | string,
  options: JobRunOptions = {},
  check?: (job: Job) => void,
): Promise<OpenJob> {
  const read = await jobOf(job, options)
  check?.(read)
  return openJob(read, await storeOf(read), runOptions(options))
}

/** Which parts of a job a worker makes. */
export interface WorkOnJobOptions extends JobRunOptions {
  /** From 1 to `parts`. Default: everything that is not done yet. */
  readonly part?: number | undefined
  readonly parts?: number | undefined
}

/** What a worker did. */
export interface WorkDone {
  readonly job: Job
  /** How many tasks were its share. */
  readonly tasks: number
  /** How many of them it did; the others were done before. */
  readonly made: number
}

/**
 * Makes a share of a job: of `parts` workers this one is number `part`. What is done already is not done again, so a worker that was
 * stopped is simply started once more.
 */
export async function workOnJob(job: Job | string, options: WorkOnJobOptions = {}): Promise<WorkDone> {
  const { part = 1, parts = 1, signal, onProgress } = options
  if (!Number.isSafeInteger(part) || !Number.isSafeInteger(parts) || part < 1 || part > parts)
    failWith(usageCodes.option, { file: 'part', message: `part ${part} of ${parts} is none; the first is 1` })
  const read = await jobOf(job, options)
  const opened = read.looks
    ? await openLooks(read, await storeOf(read), runOptions(options))
    : await openForWork(read, options)
  try {
    const share = shareOf(opened.tasks, part - 1, parts)
    const total = share.reduce((sum, task) => sum + bytesOf(task), 0)
    let done = 0
    const made = await workOn(opened, share, {
      signal,
      onDone(task) {
        done += bytesOf(task)
        const path = task.kind === 'range' ? opened.job.files[task.file]!.name : words[task.kind]
        onProgress?.({ done, total, path })
      },
    })
    return { job: opened.job, tasks: share.length, made }
  } finally {
    await opened.close()
  }
}

const words = { check: 'checks', look: 'values' }
const bytesOf = (task: Task): number => (task.kind === 'range' ? task.to - task.from : task.kind === 'look' ? 1 : 0)

/** An output that is complete. */
export interface FinishedJob {
  readonly job: Job
  /** The main file first. */
  readonly files: readonly { readonly name: string; readonly size: number }[]
  /** What is damaged in the input, where that is allowed. */
  readonly damage: readonly Finding[]
  /** What all workers together took. */
  readonly seconds: number
  /** The job that goes on, where this one was about values that planning had to know first. Then there are no files yet. */
  readonly next?: Job | undefined
}

/**
 * Completes the output of a job and lets it become visible: when all parts are there, when the inputs are what they were, and when it opens
 * again. A TareError `job/incomplete` otherwise, and nothing has changed. A job that begins with looks at values gives the next one, which
 * replaces it in its file.
 */
export async function finishJob(job: Job | string, options: JobRunOptions = {}): Promise<FinishedJob> {
  const read = await jobOf(job, options)
  if (read.looks) return takeLooks(read, typeof job === 'string' ? job : undefined, options)
  if (await (await storeOf(read)).isFinished()) return { job: read, files: filesOf(read), damage: [], seconds: 0 }
  const opened = await openForWork(read, options)
  try {
    return await finishOpened(opened, options)
  } finally {
    await opened.close()
  }
}

async function takeLooks(job: Job, path: string | undefined, options: JobRunOptions): Promise<FinishedJob> {
  if (path !== undefined && isRemote(path))
    failWith(usageCodes.option, {
      file: path,
      message: 'the next job takes the place of this file, so it must be a path',
    })
  const store = await storeOf(job)
  const opened = await openLooks(job, store, runOptions(options))
  const found = await joinAnswers(opened).finally(() => opened.close())
  const started = await collected(job.output.directory, options, (how) => makeNextJob(job, found, how))
  await started.close()
  if (path !== undefined) await writeJob(started.job, path)
  await store.discard()
  return { job, files: [], damage: [], seconds: 0, next: started.job }
}

/** The same for a job that is open. */
export async function finishOpened(opened: OpenJob, options: JobRunOptions): Promise<FinishedJob> {
  const { job, inputs, store, conversion } = opened
  const { signal } = options
  const { late, damage, seconds } = await joinResults(opened)
  collectorFor(inputs.model, options.collectGarbage)?.()
  await inputs.assertUnchanged()
  const planned = conversion.layout.isMade ? undefined : conversion.model
  await store.commit(opened, late, (written) => assertOpens(written, job.target, planned, signal), signal)
  return { job, files: filesOf(job), damage, seconds }
}

/** The files of the output where they will be. */
const filesOf = ({ files, output }: Job): readonly { readonly name: string; readonly size: number }[] =>
  files.map(({ name, size }) => ({ name: `${output.directory.replace(/\/+$/, '')}/${name}`, size }))

/** How far a job is. */
export interface JobStatus {
  /** `ready`: all parts are there, and it can be finished. `gone`: it was discarded. */
  readonly state: 'working' | 'ready' | 'finished' | 'gone'
  readonly done: number
  readonly tasks: number
  /** Which are missing, from 0. */
  readonly missing: readonly number[]
}

/** How far a job is, without planning or reading anything of the model. */
export async function jobStatus(job: Job | string, options: JobRunOptions = {}): Promise<JobStatus> {
  const read = await jobOf(job, options)
  const store = await storeOf(read)
  const { tasks } = read
  if (!read.looks && (await store.isFinished())) return { state: 'finished', done: tasks, tasks, missing: [] }
  const results = await store.results().catch((error: { code?: string }) => {
    if (error.code === jobCodes.gone.code) return undefined
    throw error
  })
  if (!results) return { state: 'gone', done: 0, tasks, missing: [] }
  const done = new Set([...results.keys()].filter((number) => number < tasks))
  const missing = Array.from({ length: tasks }, (_, i) => i).filter((i) => !done.has(i))
  return { state: missing.length === 0 ? 'ready' : 'working', done: done.size, tasks, missing }
}

/** Gives a job up: what was made of it is removed, and the output stays as it was. */
export async function discardJob(job: Job | string, options: JobRunOptions = {}): Promise<void> {
  await (await storeOf(await jobOf(job, options))).discard()
}
