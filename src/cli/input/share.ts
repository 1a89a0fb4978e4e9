// Which share of a job this process makes: as the command line says, or as a scheduler says in the environment. Schedulers count from 0, or
// from wherever the user lets them begin.
import { UsageError } from '../status.js'

export interface Share {
  /** From 1. */
  readonly part: number
  readonly parts: number
}

export interface AskedShare {
  readonly part?: Share | undefined
  readonly parts?: number | undefined
}

/** Undefined: everything that is missing. */
export function shareFrom({ part, parts }: AskedShare, env: NodeJS.ProcessEnv = process.env): Share | undefined {
  if (part && parts !== undefined && part.parts !== parts)
    throw new UsageError(`--part ${part.part}/${part.parts} and --parts ${parts} differ; leave out --parts`)
  if (part) return part
  const found = [slurmShare(env), indexShare(env, batch, parts), indexShare(env, kubernetes, parts)].find(Boolean)
  if (!found && parts !== undefined)
    throw new UsageError('--parts says how many workers there are, and nothing says which one this is; use --part I/N')
  if (found && parts !== undefined && found.parts !== parts)
    throw new UsageError(`the scheduler speaks of ${found.parts} workers, and --parts of ${parts}; leave out --parts`)
  return found
}

/** An array job begins anywhere, and can have steps: `--array=0-7`, `1-8`, `0-14:2`. */
function slurmShare(env: NodeJS.ProcessEnv): Share | undefined {
  const id = numberIn(env, 'SLURM_ARRAY_TASK_ID')
  if (id === undefined) return undefined
  const count = numberIn(env, 'SLURM_ARRAY_TASK_COUNT')
  const min = numberIn(env, 'SLURM_ARRAY_TASK_MIN')
  const step = numberIn(env, 'SLURM_ARRAY_TASK_STEP') ?? 1
  const max = numberIn(env, 'SLURM_ARRAY_TASK_MAX')
  if (count === undefined || min === undefined || count === 0)
    throw new UsageError(
      'SLURM_ARRAY_TASK_ID is set without SLURM_ARRAY_TASK_COUNT and SLURM_ARRAY_TASK_MIN; use --part I/N',
    )
  // A list such as 3,7 says how many there are, and not which of them this is.
  const isRegular = max === undefined || (max - min) / step + 1 === count
  const position = (id - min) / step
  if (!isRegular || !Number.isInteger(position) || position < 0 || position >= count)
    throw new UsageError(
      `task ${id} of an array with gaps (${count} tasks from ${min} to ${max}) says no share; use --part I/N, or an array like 1-${count}`,
    )
  return { part: position + 1, parts: count }
}

interface IndexNames {
  readonly index: string
  readonly size?: string
}

const batch: IndexNames = { index: 'AWS_BATCH_JOB_ARRAY_INDEX', size: 'AWS_BATCH_JOB_ARRAY_SIZE' }
const kubernetes: IndexNames = { index: 'JOB_COMPLETION_INDEX' }

/** Counted from 0. */
function indexShare(env: NodeJS.ProcessEnv, names: IndexNames, parts: number | undefined): Share | undefined {
  const index = numberIn(env, names.index)
  if (index === undefined) return undefined
  const count = parts ?? (names.size === undefined ? undefined : numberIn(env, names.size))
  if (count === undefined)
    throw new UsageError(`${names.index} is ${index}, and nothing says of how many; add --parts N`)
  if (index >= count) throw new UsageError(`${names.index} is ${index}, and the last of ${count} is ${count - 1}`)
  return { part: index + 1, parts: count }
}

function numberIn(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  if (!/^[0-9]{1,15}$/.test(text)) throw new UsageError(`${name} is ${JSON.stringify(text)}, and not a number`)
  return Number(text)
}
