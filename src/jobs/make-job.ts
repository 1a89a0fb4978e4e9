// Plans a job: opens the inputs, settles all that depends on chance or on values, plans what every worker will plan, and writes it down.
import { encodeUtf8, toHex } from '../bytes/index.js'
import type { Conversion, ConvertOptions, Loss, Resolved } from '../convert/plan.js'
import { checkLoss } from '../convert/run.js'
import { digestOf } from '../digest/index.js'
import { failWith } from '../errors/index.js'
import { requireFormat } from '../formats/index.js'
import { fileLength, type Model, type OptionValues } from '../model/index.js'
import type { WorkerPool } from '../threads/index.js'
import { jobCodes } from './codes.js'
import { type Job, type JobOutput, jobMark } from './job.js'
import { digestOfLayout } from './layout-digest.js'
import { type LookRound, OpenLooks } from './looks.js'
import { assertPinned, type NamedInput, type OpenedInputs, type OpenRequest, openInputs } from './open-inputs.js'
import { planFor } from './open-job.js'
import { type JobOptions, toJobOptions } from './options.js'
import { identityText } from './parse-job.js'
import { refuseSecrets } from './secrets.js'
import { lookTasks, maxUncut, type Task, type TaskOptions, tasksOf } from './tasks.js'

export interface JobPlace {
  /** The id of the format to write. */
  readonly target: string
  /** The file name of the output. */
  readonly name: string
  /** The directory, or the prefix, that the files go to. */
  readonly directory: string
  /** The directory as a whole is the output. */
  readonly isFolder: boolean
}

export interface JobRequest {
  readonly inputs: readonly NamedInput[]
  /** Where the output goes, which can depend on what the model brings with it. */
  place(model: Model): JobPlace
  readonly options: Omit<ConvertOptions, 'name' | 'folder'>
  readonly prefer?: 'first' | 'last' | undefined
  readonly ownState?: boolean | undefined
  readonly overwrite: boolean
  readonly allowLoss?: Loss | undefined
  readonly allowDamage?: boolean | undefined
  /** The size that parts should have. Default: 64 MiB. */
  readonly partSize?: number | undefined
  /** Values that the layout depends on are left to workers: the job begins with looks at them. */
  readonly leaveLooks?: boolean | undefined
  readonly onScan?: NonNullable<ConvertOptions['quantize']>['onScan']
}

export interface MakeJobOptions extends OpenRequest {
  readonly tare: string
  readonly pool?: WorkerPool | undefined
  readonly collectGarbage?: (() => void) | undefined
  /** What limits the parts where the output goes. */
  readonly limits: Pick<TaskOptions, 'isStored' | 'canCopy'>
}

/** A job with the plan that it was written for. */
export interface MadeJob {
  readonly job: Job
  readonly conversion: Conversion
  readonly tasks: readonly Task[]
  readonly inputs: OpenedInputs
}

const defaultPartSize = 64 * 2 ** 20

/** A job whose values have to be looked at before anything is laid out. */
export interface MadeLooks {
  readonly job: Job
  readonly looks: OpenLooks
  readonly inputs: OpenedInputs
}

/** The caller closes the inputs. */
export async function makeJob(request: JobRequest, how: MakeJobOptions): Promise<MadeJob | MadeLooks> {
  const { overwrite, allowLoss, allowDamage = false, partSize = defaultPartSize, prefer, ownState } = request
  const more = { prefer, ownState }
  for (const { address } of request.inputs) refuseSecrets(address)
  const inputs = await openInputs(request.inputs, toJobOptions({ ...request.options, name: '' }, more), how)
  return closingOnError(inputs, () => {
    const { target, name, directory, isFolder } = request.place(inputs.model)
    const output: JobOutput = { directory, isFolder, overwrite }
    const options = toJobOptions({ ...request.options, name, folder: isFolder }, more)
    const known = request.leaveLooks ? [] : undefined
    const asked = { target, options, output, allowDamage, partSize, allowLoss, known }
    return settle(inputs, asked, { ...how, onScan: request.onScan })
  })
}

/** Goes on with a job when its looks have been taken: with the next ones, or with the parts of the output. The caller closes the inputs. */
export async function makeNextJob(job: Job, found: LookRound, how: MakeJobOptions): Promise<MadeJob | MadeLooks> {
  const { looks, allowDamage, ...asked } = job
  const inputs = await openInputs(job.inputs, job.options, how)
  return closingOnError(inputs, () => {
    assertPinned(job.inputs, inputs.pinned)
    const known = [...looks!.known, found]
    return settle(inputs, { ...asked, allowDamage, allowLoss: looks!.allowLoss, known }, how)
  })
}

async function closingOnError<T>(inputs: OpenedInputs, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await inputs.close()
    throw error
  }
}

interface Asked extends Pick<Job, 'target' | 'options' | 'output' | 'allowDamage' | 'partSize'> {
  readonly allowLoss: Loss | undefined
  /** What looks found; undefined where planning looks at values itself. */
  readonly known: readonly LookRound[] | undefined
}

type Settling = MakeJobOptions & { readonly onScan?: JobRequest['onScan'] }

async function settle(inputs: OpenedInputs, asked: Asked, how: Settling): Promise<MadeJob | MadeLooks> {
  const { target, output, allowDamage, partSize, allowLoss, known } = asked
  const planned = await planOnce(inputs, asked, { ...how, known }).catch((error: unknown) => {
    if (error instanceof OpenLooks) return error
    throw error
  })
  const shared = { job: jobMark, tare: how.tare, inputs: inputs.pinned, target, allowDamage, output, partSize } as const
  if (planned instanceof OpenLooks) {
    const { kind, count, costs } = planned
    const looks = { known: known!, next: { kind, count }, allowLoss }
    const files = [{ name: asked.options.name, size: 0 }]
    const rest = { options: asked.options, resolved: {}, looks, files }
    const tasks = lookTasks(costs, partSize).length
    return { job: await withId(inputs, { ...shared, ...rest, tasks, layout: noLayout }), looks: planned, inputs }
  }
  const { conversion, options, resolved, digest: layout } = planned
  checkLoss(conversion.plan, allowLoss)
  if (how.limits.isStored)
    for (const file of conversion.layout.files)
      if (file.isIndivisible && fileLength(file) > maxUncut) refuseUncut(file.name, fileLength(file))
  const tasks = tasksOf(conversion, { partSize, ...how.limits })
  const files = conversion.layout.files.map((file) => ({ name: file.name, size: fileLength(file) }))
  const job = await withId(inputs, { ...shared, options, resolved, files, tasks: tasks.length, layout })
  return { job, conversion, tasks, inputs }
}

/** Until there is one. */
const noLayout = '0'.repeat(64)

async function withId(inputs: OpenedInputs, draft: Omit<Job, 'id'>): Promise<Job> {
  await inputs.assertUnchanged()
  const id = toHex(await digestOf('blake3', encodeUtf8(identityText({ ...draft, id: '' })))).slice(0, 16)
  return { ...draft, id }
}

interface Planned {
  readonly conversion: Conversion
  readonly options: JobOptions
  /** What a worker must not find out by itself: it would take another reading of the input, or come out differently. */
  readonly resolved: Resolved
  readonly digest: string
}

/**
 * Plans what every worker will plan. Options whose default is random get a value here, which all workers then use; but only where chance plays
 * a part at all, which a second plan with other values tells.
 */
async function planOnce(
  inputs: OpenedInputs,
  { target, options }: { readonly target: string; readonly options: JobOptions },
  how: Omit<Parameters<typeof planFor>[2], 'resolved'>,
): Promise<Planned> {
  const { extra, deterministic } = options
  const random = (requireFormat(target).options?.write ?? []).filter(
    ({ name, isRandom }) => isRandom && extra?.[name] === undefined,
  )
  const hasChance = !deterministic && random.length > 0
  const drawn = (): JobOptions => {
    const chosen: OptionValues = Object.fromEntries(random.map(({ name }) => [name, crypto.randomUUID()]))
    return { ...options, extra: { ...extra, ...chosen } }
  }
  const first = hasChance ? drawn() : options
  const conversion = await planFor(inputs, { target, options: first }, how)
  const resolved = { ...conversion.resolved, ranges: conversion.resolved.ranges ?? new Map() }
  const digest = await digestOfLayout(conversion.layout)
  if (!hasChance) return { conversion, options, resolved, digest }
  const second = await planFor(inputs, { target, options: drawn() }, { ...how, resolved })
  const isSame = (await digestOfLayout(second.layout)) === digest
  return { conversion, options: isSame ? options : first, resolved, digest }
}

function refuseUncut(file: string, size: number): never {
  const message = `it states a digest of all of it (${size} bytes), so one worker must make it, and an object store takes at most ${maxUncut} bytes of it at once; write to a file system, or use a smaller --shard-size`
  return failWith(jobCodes['too-large'], { file, message })
}
