// A job is a conversion that many machines carry out together, as plain JSON: the inputs with the versions that they had, what is asked for,
// everything that planning decided by chance or by looking at values, and where the output goes. A machine that has it plans the same layout,
// and can make any part of the output. It holds no secrets: credentials come from the environment of each worker.
import type { Loss, Resolved } from '../convert/plan.js'
import type { LookRound, NextLooks } from './looks.js'
import type { JobOptions } from './options.js'

export const jobMark = 'tare job 1'

/** A file of an input, as it was when the job was planned. */
export interface PinnedFile {
  readonly name: string
  readonly size: number
  /** The ETag, or the time of the last change; absent where the source has neither. */
  readonly version?: string | undefined
}

export type InputRole = 'model' | 'merge' | 'state' | 'importance' | 'vocabulary'

export interface JobInput {
  /** `model` is what is converted; the others are what flags name beside it. */
  readonly role: InputRole
  /** A path that is the same on all machines, or an address. */
  readonly address: string
  /** What the one who planned called it, where that was a bare file name: some formats name a model after it. */
  readonly name?: string | undefined
  readonly from?: string | undefined
  readonly lenient?: boolean | undefined
  /** All files of it. */
  readonly files: readonly PinnedFile[]
}

export interface JobFile {
  readonly name: string
  readonly size: number
  /** The multipart upload that collects its parts, in an object store. */
  readonly upload?: string | undefined
}

/** Where the output goes. */
export interface JobOutput {
  /** A directory, or an `s3:` address of a prefix, that the files go to. */
  readonly directory: string
  /** The directory as a whole is the output. */
  readonly isFolder: boolean
  readonly overwrite: boolean
}

/** Values that have to be looked at before the output can be laid out. Its tasks are these looks, and its files are empty. */
export interface JobLooks {
  /** What earlier rounds found. */
  readonly known: readonly LookRound[]
  readonly next: NextLooks
  /** The loss that is allowed, which the layout decides. */
  readonly allowLoss?: Loss | undefined
}

/** A conversion that many machines carry out together, as plain JSON. */
export interface Job {
  readonly job: typeof jobMark
  /** The same for the same job. */
  readonly id: string
  /** The version of tare that planned it. */
  readonly tare: string
  readonly inputs: readonly JobInput[]
  /** The id of the format of the output. */
  readonly target: string
  /** What is asked for. */
  readonly options: JobOptions
  /** What planning found by reading values. */
  readonly resolved: Resolved
  readonly allowDamage: boolean
  /** While values have to be known first. */
  readonly looks?: JobLooks | undefined
  readonly output: JobOutput
  /** The main file first. */
  readonly files: readonly JobFile[]
  /** The size that parts should have. */
  readonly partSize: number
  /** The number of parts, and of looks at the input that are handed out like them. */
  readonly tasks: number
  /** The digest of the layout: the place and kind of every byte. */
  readonly layout: string
}

/** What tells two jobs apart, without what differs between two plans of the same one. */
export function identityOf({ id, files, ...job }: Job): unknown {
  return { ...job, files: files.map(({ name, size }) => ({ name, size })) }
}
