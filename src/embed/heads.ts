import { decodeUtf8 } from '../bytes/index.js'
import { callerWord, failWith, usageCodes } from '../errors/index.js'
import type { JsonValue, MetaValue, Model } from '../model/index.js'
import { readSibling } from '../tokenize/find-vocabulary.js'
import { embedCodes } from './codes.js'

export interface HeadsOptions {
  /** The number of attention heads, if the model does not state it or states it wrong. */
  readonly heads?: number | undefined
  /** The content of the config.json that belongs to the model. */
  readonly config?: JsonValue | undefined
}

const key = 'num_attention_heads'

/** Fallback: all models in use with 384 hidden units have 12 heads. Other sizes occur with several numbers. */
const knownHeads: ReadonlyMap<number, number> = new Map([[384, 12]])

/** The number of attention heads: as requested, as stated by metadata or configuration, or the known one for the size. */
export function findHeads(model: Model, hidden: number, options: HeadsOptions, file: string): number {
  if (options.heads !== undefined) {
    if (divides(options.heads, hidden)) return options.heads
    const message = `${hidden} hidden units cannot be shared by ${options.heads} attention heads`
    failWith(usageCodes.option, { file: callerWord('--heads', 'heads'), message })
  }
  const stated = integerOf(model.metadata.get(key)) ?? configured(options.config) ?? knownHeads.get(hidden)
  if (stated !== undefined && divides(stated, hidden)) return stated
  const message =
    stated === undefined
      ? `nothing says how many attention heads share the ${hidden} hidden units; give the number with ${callerWord('--heads', 'heads')}`
      : `${hidden} hidden units cannot be shared by ${stated} attention heads; give the right number with ${callerWord('--heads', 'heads')}`
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

const maxConfigBytes = 1 << 20

/** The config.json beside a model, or undefined if there is none that can be parsed. */
export async function readConfig(model: Model): Promise<JsonValue | undefined> {
  const bytes = await readSibling(model, 'config.json', maxConfigBytes)
  const text = bytes && decodeUtf8(bytes)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
