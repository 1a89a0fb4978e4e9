// A container that carries what it has no place for stays as it is when it only goes into another file of its format. Taken out and put in
// again, the same content would make another file, where formats promise that what did not change travels as it is stored.
import { type Model, stowageKey } from '../model/index.js'
import type { ConvertOptions } from './options.js'
import type { Plan } from './plan-types.js'

/** Options that say where and how the same content is laid out. */
const layoutKeys: ReadonlySet<keyof ConvertOptions> = new Set([
  'name',
  'shardSize',
  'align',
  'deterministic',
  'rewrite',
  'extra',
  'signal',
  'pool',
  'keepOrientation',
])
/** Done unless they are false. */
const defaultOn: ReadonlySet<keyof ConvertOptions> = new Set(['stow', 'files'])

function asksForChange(key: keyof ConvertOptions, value: unknown): boolean {
  if (defaultOn.has(key)) return value === false
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== false && !layoutKeys.has(key)
}

/** Whether what a model carries can stay where it is, as far as the options tell. */
export const canStayStored = (source: Model, target: string, options: ConvertOptions): boolean =>
  source.format === target &&
  source.metadata.has(stowageKey) &&
  !keysOf(options).some((key) => asksForChange(key, options[key]))

const keysOf = (options: ConvertOptions): (keyof ConvertOptions)[] => Object.keys(options) as (keyof ConvertOptions)[]

/** Whether a plan leaves everything as it was. */
export const isCopy = ({ actions }: Plan): boolean =>
  actions.every(({ action }) => action === 'copy' || action === 'recompute')
