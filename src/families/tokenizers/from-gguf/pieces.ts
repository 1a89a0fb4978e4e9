// The pieces of tokenizer.json that all kinds of tokenizers have.
import type { Config } from '../../family.js'
import { tokenType } from '../token-types.js'
import type { GgufTokens } from './gguf-tokens.js'

/** Tokens that are found in a text before anything else is done to it. */
export function addedTokens({ tokens, types }: GgufTokens): readonly Config[] {
  return tokens.flatMap((content, id) => {
    const special = types[id] === tokenType.control || types[id] === tokenType.unknown
    if ((!special && types[id] !== tokenType.userDefined) || content === '') return []
    return [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special }]
  })
}

/** What is put around a text where the file does not say it. */
export interface DefaultEnds {
  readonly bos: boolean
  readonly eos: boolean
}

/** Undefined if nothing is put around a text. */
export function templateOf(tokens: GgufTokens, defaults: DefaultEnds): Config | undefined {
  const wanted = (kind: 'bos' | 'eos' | 'sep', otherwise: boolean): boolean =>
    tokens.flag(`add_${kind}_token`) ?? otherwise
  const bos = wanted('bos', defaults.bos) ? tokens.special('bos') : undefined
  const eos = wanted('eos', defaults.eos) ? (tokens.special('eos') ?? tokens.special('seperator')) : undefined
  const sep = wanted('sep', false) ? (tokens.special('seperator') ?? tokens.special('eos')) : undefined
  if (bos === undefined && eos === undefined && sep === undefined) return undefined
  const special = (id: string | undefined, type_id: number): Config[] =>
    id === undefined ? [] : [{ SpecialToken: { id, type_id } }]
  const sequence = (id: string, type_id: number): Config => ({ Sequence: { id, type_id } })
  const first = [...special(bos, 0), sequence('A', 0), ...special(eos, 0)]
  const between = sep === undefined && eos === undefined ? special(bos, 1) : special(sep, 0)
  const names = [...new Set([bos, eos, sep].filter((each) => each !== undefined))]
  return {
    type: 'TemplateProcessing',
    single: first,
    pair: [...first, ...between, sequence('B', 1), ...special(eos, 1)],
    special_tokens: Object.fromEntries(names.map((id) => [id, { id, ids: [tokens.tokens.indexOf(id)], tokens: [id] }])),
  }
}
