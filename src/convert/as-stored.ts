// A container that carries what it has no place for stays as it is when it only goes into another file of its format. Taken out and put in
// again, the same content would make another file, where formats promise that what did not change travels as it is stored.
import { type Model, stowageKey } from '../model/index.js'
import type { Plan } from './plan-types.js'

/** Options that say where and how the same content is laid out. */
const ways: ReadonlySet<string> = new Set(
  'name shardSize align deterministic anew extra signal pool keepOrientation'.split(' '),
)
/** What is done unless somebody says no. */
const usual: ReadonlySet<string> = new Set(['stow', 'files'])

function asksForChange([key, value]: readonly [string, unknown]): boolean {
  if (usual.has(key)) return value === false
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== false && !ways.has(key)
}

/** Whether what a model carries can stay where it is, as far as the options tell. */
export const canStayStored = (source: Model, target: string, options: object): boolean =>
  source.format === target && source.metadata.has(stowageKey) && !Object.entries(options).some(asksForChange)

/** Whether a plan leaves everything as it was. */
export const isCopy = ({ actions }: Plan): boolean =>
  actions.every(({ action }) => action === 'copy' || action === 'recompute')
