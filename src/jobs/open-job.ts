// A worker's own plan of a job. Planning takes a few seconds for very large models, so a worker does it once and then makes many parts.
import { type Conversion, type ConvertOptions, planConversion, type Resolved } from '../convert/plan.js'
import { collectorFor } from '../convert/run.js'
import { failWith } from '../errors/index.js'
import type { WorkerPool } from '../threads/index.js'
import { jobCodes } from './codes.js'
import type { Job } from './job.js'
import { digestOfLayout } from './layout-digest.js'
import { type LookRound, looksFrom, OpenLooks } from './looks.js'
import { assertPinned, type OpenedInputs, type OpenRequest, openInputs } from './open-inputs.js'
import { fromJobOptions, type JobOptions } from './options.js'
import type { JobStore } from './store.js'
import { lookTasks, type Task, tasksOf } from './tasks.js'

/** A job that can be worked on. */
export interface OpenJob {
  readonly job: Job
  readonly conversion: Conversion
  readonly tasks: readonly Task[]
  readonly store: JobStore
  readonly inputs: OpenedInputs
  close(): Promise<void>
}

export interface OpenJobOptions extends OpenRequest {
  /** The version of tare that runs here. */
  readonly tare: string
  readonly pool?: WorkerPool | undefined
  /** Called between two steps that leave much garbage. */
  readonly collectGarbage?: (() => void) | undefined
}

/** A job whose values have to be looked at. */
export interface OpenLooksJob extends Omit<OpenJob, 'conversion'> {
  readonly looks: OpenLooks
}

/** Opens the inputs, and plans up to the looks that the job is about. */
export async function openLooks(job: Job, store: JobStore, options: OpenJobOptions): Promise<OpenLooksJob> {
  const file = job.files[0]!.name
  const { known, next } = job.looks!
  assertVersion(job, options)
  const inputs = await openInputs(job.inputs, job.options, options)
  try {
    assertPinned(job.inputs, inputs.pinned)
    const looks = await planFor(inputs, job, { ...options, known }).catch((error: unknown) => error)
    if (!(looks instanceof OpenLooks)) throw looks instanceof Error ? looks : new Error('there is nothing to look at')
    const tasks = lookTasks(looks.costs, job.partSize)
    if (looks.kind !== next.kind || looks.count !== next.count || tasks.length !== job.tasks) {
      const message = `the plan made here looks at ${looks.count} of ${looks.kind}, and the job at ${next.count} of ${next.kind}; use the same build of tare on the same inputs, or plan the job again`
      failWith(jobCodes.layout, { file, message })
    }
    return { job, looks, tasks, store, inputs, close: inputs.close }
  } catch (error) {
    await inputs.close()
    throw error
  }
}

function assertVersion(job: Job, options: OpenJobOptions): void {
  const file = job.files[0]!.name
  if (job.tare !== options.tare) {
    const message = `tare ${job.tare} planned it, and this is ${options.tare}; use the same version everywhere, or plan the job again`
    failWith(jobCodes.version, { file, message })
  }
}

/** Opens the inputs, plans, and compares the plan with the one that the job was written for. */
export async function openJob(job: Job, store: JobStore, options: OpenJobOptions): Promise<OpenJob> {
  const file = job.files[0]!.name
  assertVersion(job, options)
  if (job.looks) failWith(jobCodes.incomplete, { file, message: 'its values have to be looked at first' })
  const inputs = await openInputs(job.inputs, job.options, options)
  try {
    assertPinned(job.inputs, inputs.pinned)
    const conversion = await planFor(inputs, job, { ...options, resolved: job.resolved })
    conversion.threads.pool = options.pool
    const digest = await digestOfLayout(conversion.layout)
    const tasks = tasksOf(conversion, { partSize: job.partSize, ...store.limits })
    if (digest !== job.layout || tasks.length !== job.tasks) {
      const message = `the plan made here is another one (${digest.slice(0, 12)}, and ${job.layout.slice(0, 12)} in the job); use the same build of tare on the same inputs, or plan the job again`
      failWith(jobCodes.layout, { file, message })
    }
    collectorFor(inputs.model, options.collectGarbage)?.()
    return { job, conversion, tasks, store, inputs, close: inputs.close }
  } catch (error) {
    await inputs.close()
    throw error
  }
}

/** The conversion that a job asks for. */
export async function planFor(
  inputs: OpenedInputs,
  { target, options }: { readonly target: string; readonly options: JobOptions },
  how: Pick<OpenJobOptions, 'pool' | 'signal' | 'collectGarbage'> & {
    readonly resolved?: Resolved | undefined
    /** What looks found; planning ends where that is not enough. Undefined: it looks at values itself. */
    readonly known?: readonly LookRound[] | undefined
    readonly onScan?: NonNullable<ConvertOptions['quantize']>['onScan']
  },
): Promise<Conversion> {
  const { model, options: added, importance } = inputs
  const asked = fromJobOptions(options)
  const { pool, signal, resolved, known, onScan } = how
  const collectGarbage = collectorFor(model, how.collectGarbage)
  return planConversion(model, target, {
    ...asked,
    ...added,
    ...(asked.quantize && { quantize: { ...asked.quantize, ...importance, onScan } }),
    ...{ pool, signal, collectGarbage, resolved },
    lookAt: known && looksFrom(known, options.name),
  })
}
