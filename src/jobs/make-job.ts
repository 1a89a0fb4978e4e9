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
import { type NamedInput, type OpenedInputs, type OpenRequest, openInputs } from './open-inputs.js'
import { planFor } from './open-job.js'
import { type JobOptions, toJobOptions } from './options.js'
import { identityText } from './parse-job.js'
import { refuseSecrets } from './secrets.js'
import { maxUncut, type Task, type TaskOptions, tasksOf } from './tasks.js'

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

/** The caller closes the inputs. */
export async function makeJob(request: JobRequest, how: MakeJobOptions): Promise<MadeJob> {
  const { overwrite, allowLoss, allowDamage = false, partSize = defaultPartSize, prefer, ownState } = request
  const more = { prefer, ownState }
  for (const { address } of request.inputs) refuseSecrets(address)
  const inputs = await openInputs(request.inputs, toJobOptions({ ...request.options, name: '' }, more), how)
  try {
    const { target, name, directory, isFolder } = request.place(inputs.model)
    const output: JobOutput = { directory, isFolder, overwrite }
    const asked = toJobOptions({ ...request.options, name, folder: isFolder }, more)
    const planned = await planOnce(inputs, { target, options: asked }, { ...how, onScan: request.onScan })
    const { conversion, options, resolved, digest } = planned
    checkLoss(conversion.plan, allowLoss)
    const { layout } = conversion
    if (how.limits.isStored)
      for (const file of layout.files)
        if (file.isIndivisible && fileLength(file) > maxUncut) refuseUncut(file.name, fileLength(file))
    const tasks = tasksOf(conversion, { partSize, ...how.limits })
    const files = layout.files.map((file) => ({ name: file.name, size: fileLength(file) }))
    const draft: Job = {
      ...{
        job: jobMark,
        id: '',
        tare: how.tare,
        inputs: inputs.pinned,
        target,
        options,
        resolved,
        allowDamage,
        output,
      },
      ...{ files, partSize, tasks: tasks.length, layout: digest },
    }
    await inputs.assertUnchanged()
    const id = toHex(await digestOf('blake3', encodeUtf8(identityText(draft)))).slice(0, 16)
    return { job: { ...draft, id }, conversion, tasks, inputs }
  } catch (error) {
    await inputs.close()
    throw error
  }
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
