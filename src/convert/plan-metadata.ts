// What happens to each metadata entry: it fits, is mapped to another type, stowed, or dropped.
import { failWith, writeCodes } from '../errors/index.js'
import { type Metadata, type MetaValue, stowageKey, text, type WriteCapabilities } from '../model/index.js'
import type { Stower } from '../stow/index.js'
import { applyFit } from './apply-fit.js'
import { noter, type PlanAction } from './plan-types.js'

export interface MetadataOptions {
  readonly name: string
  readonly set?: readonly (readonly [key: string, value: string])[] | undefined
  readonly unset?: readonly string[] | undefined
}

export interface PlannedMetadata {
  readonly metadata: Map<string, MetaValue>
  /** The keys that the model has, stowed ones included, in its own order. */
  readonly keys: readonly string[]
}

export function planMetadata(
  source: Metadata,
  write: WriteCapabilities,
  options: MetadataOptions,
  actions: PlanAction[],
  stower: Stower | undefined,
): PlannedMetadata {
  const metadata = new Map<string, MetaValue>()
  const keys: string[] = []
  const unset = new Set(options.unset)
  const set = new Map(options.set)
  for (const [key, value] of source) {
    const note = noter(actions, 'metadata', key)
    if (unset.has(key)) note('drop', 'content', { requested: true, reason: 'unset' })
    else if (!set.has(key)) {
      const fit = write.metadata(key, value)
      const isStowed = stower !== undefined && key !== stowageKey && (!fit.fits || isOther(fit.as, value))
      const fitted = isStowed ? fit.as : applyFit(fit, value, note)
      if (isStowed) {
        stower.metadata(key, value, fit.as)
        note('stow', 'none', fit.reason === undefined ? {} : { reason: fit.reason })
      } else if (fitted && fit.as === undefined) note('copy', 'none')
      if (fitted) metadata.set(key, fitted)
      if (fitted || isStowed) keys.push(key)
    }
  }
  for (const [key, value] of set) {
    noter(actions, 'metadata', key)('set', 'none', { requested: true, to: value })
    metadata.set(key, settable(key, value, source, write, options.name))
    keys.push(key)
  }
  return { metadata, keys }
}

/** A target that changes only how it writes a value gives the same value back. */
const isOther = (as: MetaValue | undefined, value: MetaValue): boolean => as !== undefined && as !== value

function settable(key: string, value: string, source: Metadata, write: WriteCapabilities, file: string): MetaValue {
  const fit = write.metadata(key, text(value))
  // A key that is there already has a type, and its format reads the text as that.
  if (!fit.fits && !source.has(key)) {
    const reason = fit.reason ?? 'the target has no metadata'
    failWith(writeCodes['name-unsupported'], { file, path: key, message: `cannot be set: ${reason}` })
  }
  return fit.as ?? text(value)
}
