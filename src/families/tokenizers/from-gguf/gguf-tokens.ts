// What a GGUF file says about its tokenizer: texts by id, the kind of each, scores or merges, the ids of special tokens, and a few switches.
import { callerWord, failWith } from '../../../errors/index.js'
import type { Metadata, MetaValue } from '../../../model/index.js'
import { familyCodes } from '../../codes.js'
import { tokenType } from '../token-types.js'

export interface GgufTokens {
  /** The file, for messages. */
  readonly file: string
  /** The kind of tokenizer: gpt2, llama, bert, t5. */
  readonly model: string
  /** The name of the rules by which text is split into words. */
  readonly pre: string
  readonly tokens: readonly string[]
  /** One for each token. */
  readonly types: readonly number[]
  readonly scores: readonly number[]
  readonly merges: readonly string[]
  /** The text of a special token, if the file names it. */
  special(kind: SpecialKind): string | undefined
  /** A switch, if the file has it. */
  flag(name: string): boolean | undefined
  readonly metadata: Metadata
}

export type SpecialKind = 'bos' | 'eos' | 'unknown' | 'seperator' | 'padding' | 'mask'

const prefix = 'tokenizer.ggml.'

/** Undefined where the file has no tokens. */
export function readGgufTokens(metadata: Metadata, file: string): GgufTokens | undefined {
  if (!metadata.has(`${prefix}tokens`)) return undefined
  const list = <T>(key: string, item: (value: MetaValue) => T | undefined, wanted: string): readonly T[] => {
    const value = metadata.get(prefix + key)
    if (value === undefined) return []
    if (value.type !== 'array') return refuseGguf(file, prefix + key, `a list of ${wanted} was expected`)
    return value
      .values()
      .map((each, i) => item(each) ?? refuseGguf(file, `${prefix}${key}[${i}]`, `a list of ${wanted} was expected`))
  }
  const tokens = list('tokens', textIn, 'texts')
  const perToken = (key: string): readonly number[] => {
    const values = list(key, numberIn, 'numbers')
    if (values.length === 0 || values.length === tokens.length) return values
    return refuseGguf(file, prefix + key, `${values.length} numbers, but there are ${tokens.length} tokens`)
  }
  const types = perToken('token_type')
  const word = (key: string, otherwise: string): string => textIn(metadata.get(prefix + key)) ?? otherwise
  return {
    file,
    model: word('model', ''),
    pre: word('pre', 'default'),
    tokens,
    types: types.length > 0 ? types : tokens.map(() => tokenType.normal),
    scores: perToken('scores'),
    merges: list('merges', textIn, 'texts'),
    special(kind) {
      const id = numberIn(metadata.get(`${prefix}${kind}_token_id`))
      return id === undefined ? undefined : tokens[id]
    },
    flag(name) {
      const value = metadata.get(prefix + name)
      return value?.type === 'bool' ? value.value : undefined
    },
    metadata,
  }
}

const textIn = (value: MetaValue | undefined): string | undefined => (value?.type === 'str' ? value.value : undefined)

function numberIn(value: MetaValue | undefined): number | undefined {
  if (!value || !('value' in value)) return undefined
  return typeof value.value === 'number' || typeof value.value === 'bigint' ? Number(value.value) : undefined
}

export const refuseGguf = (file: string, path: string, message: string): never =>
  failWith(familyCodes.tokenizer, { file, path, message })

/** For tokenizers that only llama.cpp has code for. */
export function refuseUnknown(
  { file }: GgufTokens,
  key: 'model' | 'pre',
  name: string,
  known: readonly string[],
): never {
  const other = callerWord('--vocab FILE', 'a tokenizer.json')
  const message = `${JSON.stringify(name)} cannot be run here; known are ${known.join(', ')}. Another tokenizer can be given: ${other}`
  return refuseGguf(file, prefix + key, message)
}

/** Ids without a token are listed in GGUF, and left out elsewhere. */
export const isPlaceholder = (token: string, id: number, type: number): boolean =>
  type === tokenType.unused && token === `[PAD${id}]`
