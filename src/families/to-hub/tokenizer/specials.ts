// Tokens with a special meaning, the tokens that are put around a text, and chat templates, as the files of a directory state them. Where a
// statement can stand in several files, the order of the keys in GGUF tells in which it stood.
import type { Metadata } from '../../../model/index.js'
import type { Config } from '../../family.js'
import { commonKinds, idKeys } from '../../tokenizers/special-tokens.js'
import { listAt, numberAt, plainValue, textAt } from '../entries.js'
import { refuseKey, type TokenizerSource } from './source.js'

export interface Specials {
  /** For tokenizer_config.json. */
  readonly config: Config
  /** For config.json. */
  readonly settings: Config
  readonly postProcessor: Config | null
}

const prefix = 'tokenizer.ggml.'

export function specialsOf(source: TokenizerSource, isListed: (id: number) => boolean): Specials {
  const { metadata, tokens } = source
  const ids = specialIds(source)
  const adds = addsIn(metadata)
  const ends = endsOf(ids, adds, tokens)
  const config: Record<string, unknown> = {}
  const named = namedInTokenizer(ids, isListed)
  for (const kind of named) config[`${kind}_token`] = tokens[ids.get(kind)!]
  // A text ends with a token that is not the one the tokenizer calls its end.
  const isRenamed = ids.has('eot') && adds.get('eos') === true && source.choice !== 'gemma-1'
  if (isRenamed) config.eos_token = tokens[ids.get('eot')!]
  if (source.model === 'bert') nameAsBert(config, ids)
  const postProcessor = templateOf(ends, ids, adds)
  for (const kind of ['bos', 'eos', 'sep']) {
    const isStated = adds.has(kind) && !(kind === 'sep' && postProcessor && isSepInTemplate(adds))
    if (isStated) config[`add_${kind}_token`] = adds.get(kind)
  }
  const settings = [...ids].filter(
    ([kind]) => !(isRenamed && kind === 'eos') && (!named.has(kind) || ['bos', 'eos', 'pad'].includes(kind)),
  )
  const isBert = source.model === 'bert'
  return {
    config: { ...config, ...templatesIn(metadata, source.file) },
    settings: Object.fromEntries(
      settings
        .filter(([kind]) => kind !== 'eot' && !(isBert && named.has(kind) && kind !== 'pad'))
        .map(([kind, id]) => [`${kind}_token_id`, id]),
    ),
    postProcessor,
  }
}

/** By kind, in the order of the file. */
function specialIds({ metadata, tokens, file }: TokenizerSource): Map<string, number> {
  const kinds = new Map(Object.entries(idKeys).map(([kind, key]) => [`${prefix}${key}`, kind]))
  const ids = new Map<string, number>()
  for (const key of metadata.keys()) {
    const kind = kinds.get(key)
    if (kind === undefined) continue
    const id = numberAt(metadata, key)
    if (id === undefined || !Number.isInteger(id) || id < 0 || id >= tokens.length)
      refuseKey(file, key, `${JSON.stringify(plainValue(metadata.get(key)))} is not one of ${tokens.length} tokens`)
    else ids.set(kind, id)
  }
  return ids
}

/** Those in tokenizer_config.json come first and in order; what is out of order stood in config.json. */
function namedInTokenizer(ids: ReadonlyMap<string, number>, isListed: (id: number) => boolean): ReadonlySet<string> {
  const named = new Set<string>()
  let last = -1
  for (const [kind, id] of ids) {
    const rank = commonKinds.indexOf(kind)
    if (rank < last || !isListed(id)) break
    if (rank >= 0) named.add(kind)
    last = rank
  }
  return named
}

/** What llama.cpp calls the beginning and the end of a text is called otherwise there. */
function nameAsBert(config: Record<string, unknown>, ids: ReadonlyMap<string, number>): void {
  if (config.bos_token === undefined) return
  config.cls_token = config.bos_token
  delete config.bos_token
  if (config.sep_token !== undefined && ids.get('eos') === ids.get('sep')) delete config.eos_token
}

function addsIn(metadata: Metadata): Map<string, boolean> {
  const adds = new Map<string, boolean>()
  for (const key of metadata.keys()) {
    const kind = /^tokenizer\.ggml\.add_(bos|eos|sep)_token$/.exec(key)?.[1]
    const value = kind === undefined ? undefined : plainValue(metadata.get(key))
    if (kind !== undefined && typeof value === 'boolean') adds.set(kind, value)
  }
  return adds
}

interface Ends {
  readonly first: string | undefined
  readonly last: string | undefined
}

function endsOf(ids: ReadonlyMap<string, number>, adds: ReadonlyMap<string, boolean>, tokens: readonly string[]): Ends {
  const textOf = (kind: string): string | undefined => {
    const id = ids.get(kind)
    return adds.get(kind) && id !== undefined ? tokens[id] : undefined
  }
  return { first: textOf('bos'), last: textOf('eos') }
}

/** Whether the statement about separators comes from what stands between two texts, not from a flag. */
function isSepInTemplate(adds: ReadonlyMap<string, boolean>): boolean {
  const kinds = [...adds.keys()]
  if (!adds.has('sep')) return false
  return adds.get('eos') !== false || kinds.indexOf('sep') < kinds.indexOf('eos')
}

function templateOf(
  { first, last }: Ends,
  ids: ReadonlyMap<string, number>,
  adds: ReadonlyMap<string, boolean>,
): Config | null {
  if (first === undefined && last === undefined) return null
  const special = (text: string | undefined, type_id: number): Config[] =>
    text === undefined ? [] : [{ SpecialToken: { id: text, type_id } }]
  const sequence = (id: string, type_id: number): Config => ({ Sequence: { id, type_id } })
  const between = (): Config[] => {
    if (!isSepInTemplate(adds)) return []
    if (adds.get('sep') && last !== undefined) return [...special(last, 0), ...special(last, 0)]
    return special(last ?? first, last === undefined ? 1 : 0)
  }
  const mentioned = [[first, ids.get('bos')] as const, [last, ids.get('eos')] as const]
  return {
    type: 'TemplateProcessing',
    single: [...special(first, 0), sequence('A', 0), ...special(last, 0)],
    pair: [...special(first, 0), sequence('A', 0), ...between(), sequence('B', 1), ...special(last, 1)],
    special_tokens: Object.fromEntries(
      mentioned.flatMap(([text, id]) => (text === undefined ? [] : [[text, { id: text, ids: [id], tokens: [text] }]])),
    ),
  }
}

const templateKey = 'tokenizer.chat_template'

function templatesIn(metadata: Metadata, file: string): Config {
  const main = textAt(metadata, templateKey)
  const names = listAt(metadata, `${templateKey}s`, 'string', file) ?? []
  const others = names.flatMap((name) => {
    const template = textAt(metadata, `${templateKey}.${name}`)
    return template === undefined ? [] : [{ name, template }]
  })
  if (others.length === 0) return main === undefined ? {} : { chat_template: main }
  return { chat_template: [...others, ...(main === undefined ? [] : [{ name: 'default', template: main }])] }
}
