// Which tokens are put around a text, and between two.
import type { Metadata } from '../../../model/index.js'
import type { Config } from '../../family.js'
import { type GgufTokens, prefix } from './gguf-tokens.js'

/** What is put around a text where the file does not say it. */
export interface DefaultEnds {
  readonly bos: boolean
  readonly eos: boolean
}

/** What the file says, in its order. */
export function addsIn(metadata: Metadata): Map<string, boolean> {
  const adds = new Map<string, boolean>()
  for (const [key, value] of metadata) {
    const kind = key.startsWith(prefix) ? /^add_(bos|eos|sep)_token$/.exec(key.slice(prefix.length))?.[1] : undefined
    if (kind !== undefined && value.type === 'bool') adds.set(kind, value.value)
  }
  return adds
}

/** Whether the statement about separators comes from what stands between two texts, not from a flag. */
export function isSepInTemplate(adds: ReadonlyMap<string, boolean>): boolean {
  const kinds = [...adds.keys()]
  if (!adds.has('sep')) return false
  return adds.get('eos') !== false || kinds.indexOf('sep') < kinds.indexOf('eos')
}

/** Undefined if nothing is put around a text. */
export function templateOf(tokens: GgufTokens, defaults: DefaultEnds): Config | undefined {
  const adds = addsIn(tokens.metadata)
  const first = (adds.get('bos') ?? defaults.bos) ? tokens.specialId('bos') : undefined
  const last =
    (adds.get('eos') ?? defaults.eos) ? (tokens.specialId('eos') ?? tokens.specialId('seperator')) : undefined
  if (first === undefined && last === undefined) return undefined
  const special = (id: number | undefined, type_id: number): Config[] =>
    id === undefined ? [] : [{ SpecialToken: { id: tokens.tokens[id], type_id } }]
  const sequence = (id: string, type_id: number): Config => ({ Sequence: { id, type_id } })
  const between = (): Config[] => {
    if (!isSepInTemplate(adds)) return []
    if (adds.get('sep') && last !== undefined) return [...special(last, 0), ...special(last, 0)]
    return special(last ?? first, last === undefined ? 1 : 0)
  }
  const mentioned = [first, last].filter((id) => id !== undefined)
  return {
    type: 'TemplateProcessing',
    single: [...special(first, 0), sequence('A', 0), ...special(last, 0)],
    pair: [...special(first, 0), sequence('A', 0), ...between(), sequence('B', 1), ...special(last, 1)],
    special_tokens: Object.fromEntries(
      mentioned.map((id) => [tokens.tokens[id]!, { id: tokens.tokens[id], ids: [id], tokens: [tokens.tokens[id]] }]),
    ),
  }
}
