import { failWith, usageCodes } from '../errors/index.js'
import type { JsonValue, MetaValue, Model } from '../model/index.js'
import { embedCodes } from './codes.js'

export interface HeadsOptions {
  /** How many attention heads there are, where the model does not say or says it wrong. */
  readonly heads?: number | undefined
  /** The content of a config.json that goes with the model. */
  readonly config?: JsonValue | undefined
}

const key = 'num_attention_heads'

/** Where nothing says it: all models with 384 hidden units that are in use have 12 heads. Other sizes come with several numbers. */
const knownHeads: ReadonlyMap<number, number> = new Map([[384, 12]])

/** The number of attention heads: as asked, as the metadata or the configuration say, or the usual one. */
export function findHeads(model: Model, hidden: number, options: HeadsOptions, file: string): number {
  if (options.heads !== undefined) {
    if (divides(options.heads, hidden)) return options.heads
    const message = `${hidden} hidden units cannot be shared by ${options.heads} attention heads`
    failWith(usageCodes.option, { file: '--heads', message })
  }
  const stated = integerOf(model.metadata.get(key)) ?? configured(options.config) ?? knownHeads.get(hidden)
  if (stated !== undefined && divides(stated, hidden)) return stated
  const message =
    stated === undefined
      ? `nothing says how many attention heads share the ${hidden} hidden units; give the number with --heads`
      : `${hidden} hidden units cannot be shared by ${stated} attention heads; give the right number with --heads`
  return failWith(embedCodes.heads, { file, path: key, message })
}

const divides = (heads: number, hidden: number): boolean =>
  Number.isSafeInteger(heads) && heads > 0 && hidden % heads === 0

function integerOf(value: MetaValue | undefined): number | undefined {
  const plain = value && 'value' in value ? value.value : undefined
  const isScalar = typeof plain === 'number' || typeof plain === 'bigint' || typeof plain === 'string'
  return isScalar && /^\s*\d+\s*$/.test(String(plain)) ? Number(plain) : undefined
}

function configured(config: JsonValue | undefined): number | undefined {
  const value = typeof config === 'object' && config !== null ? (config as Record<string, JsonValue>)[key] : undefined
  return typeof value === 'number' ? value : undefined
}
