// Tokens with a special meaning, the tokens that are put around a text, and chat templates, as the files of a directory state them. Where a
// statement can stand in several files, the order of the keys in GGUF tells in which it stood.
import type { Metadata } from '../../../model/index.js'
import type { Config, TokenizerChoice } from '../../family.js'
import { type GgufTokens, prefix, refuseGguf } from '../../tokenizers/from-gguf/gguf-tokens.js'
import { addsIn, isSepInTemplate } from '../../tokenizers/from-gguf/template.js'
import { commonKinds, idKeys } from '../../tokenizers/special-tokens.js'
import { listAt, numberAt, plainValue, textAt } from '../entries.js'

export interface Specials {
  /** For tokenizer_config.json. */
  readonly config: Config
  /** For config.json. */
  readonly settings: Config
}

export function specialsOf(source: GgufTokens, choice: TokenizerChoice, isListed: (id: number) => boolean): Specials {
  const { metadata, tokens } = source
  const ids = specialIds(source)
  const adds = addsIn(metadata)
  const config: Record<string, unknown> = {}
  const named = namedInTokenizer(ids, isListed)
  for (const kind of named) config[`${kind}_token`] = tokens[ids.get(kind)!]
  // A text ends with a token that is not the one the tokenizer calls its end.
  const isRenamed = ids.has('eot') && adds.get('eos') === true && choice !== 'gemma-1'
  if (isRenamed) config.eos_token = tokens[ids.get('eot')!]
  if (source.model === 'bert') nameAsBert(config, ids)
  const hasTemplate = (adds.get('bos') && ids.has('bos')) || (adds.get('eos') && ids.has('eos'))
  for (const kind of ['bos', 'eos', 'sep']) {
    const isStated = adds.has(kind) && !(kind === 'sep' && hasTemplate && isSepInTemplate(adds))
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
  }
}

/** By kind, in the order of the file. */
function specialIds({ metadata, tokens, file }: GgufTokens): Map<string, number> {
  const kinds = new Map(Object.entries(idKeys).map(([kind, key]) => [`${prefix}${key}`, kind]))
  const ids = new Map<string, number>()
  for (const key of metadata.keys()) {
    const kind = kinds.get(key)
    if (kind === undefined) continue
    const id = numberAt(metadata, key)
    if (id === undefined || !Number.isInteger(id) || id < 0 || id >= tokens.length)
      refuseGguf(file, key, `${JSON.stringify(plainValue(metadata.get(key)))} is not one of ${tokens.length} tokens`)
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
