// Which tokens have a special meaning, whether they are added to every text, the chat template, and what is done to a text beforehand. They
// are stated in several files, which contradict each other at times; the order in which they are believed is that of llama.cpp's converter.
import { templateFolder } from '../../content/companions.js'
import { listOf, text } from '../../model/index.js'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { isId, type TokenizerFiles, tokenText } from './files.js'
import type { Entry } from './vocabulary.js'

export interface SpecialOptions {
  /** Ids from here on are not believed. */
  readonly limit?: number | undefined
  readonly merges?: readonly string[] | undefined
  /** Other kinds of tokens than the common ones. */
  readonly kinds?: readonly string[] | undefined
  /** Ids that are known where no file states them. */
  readonly known?: Readonly<Record<string, number>> | undefined
  /** Ids that count more than what files state. */
  readonly replaced?: Readonly<Record<string, number>> | undefined
  readonly withoutTemplate?: boolean | undefined
}

export const commonKinds = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask']

/** What GGUF calls them; kinds without a name are not written. */
export const idKeys: Readonly<Record<string, string>> = {
  bos: 'bos_token_id',
  eos: 'eos_token_id',
  unk: 'unknown_token_id',
  sep: 'seperator_token_id', // sic
  pad: 'padding_token_id',
  mask: 'mask_token_id',
  eot: 'eot_token_id',
  eom: 'eom_token_id',
}

export async function specialEntries(files: TokenizerFiles, options: SpecialOptions = {}): Promise<Entry[]> {
  const { directory, tokenizerJson } = files
  const state = readProcessor(files, options)
  const ids = specialIds(files, state, options)
  const entries: Entry[] = []
  if (options.merges && options.merges.length > 0)
    entries.push(['tokenizer.ggml.merges', listOf('str', options.merges.map(text))])
  for (const [kind, id] of ids) {
    const key = idKeys[kind]
    if (key !== undefined) entries.push([`tokenizer.ggml.${key}`, { type: 'u32', value: id }])
  }
  for (const [kind, value] of state.adds)
    if (['bos', 'eos', 'sep'].includes(kind))
      entries.push([`tokenizer.ggml.add_${kind}_token`, { type: 'bool', value }])
  if (files.tokenizerConfig && !options.withoutTemplate)
    entries.push(...templateEntries(await chatTemplate(files.tokenizerConfig, directory)))
  entries.push(...normalizerEntries(tokenizerJson?.normalizer))
  return entries
}

interface Processed {
  /** tokenizer_config.json, with what the post-processor tells. */
  readonly config: Record<string, unknown>
  readonly kinds: readonly string[]
  readonly adds: Map<string, boolean>
}

/** The post-processor adds tokens to every text. Which ones tells what they are. */
function readProcessor(
  { tokenizerJson, tokenizerConfig }: TokenizerFiles,
  { kinds = commonKinds }: SpecialOptions,
): Processed {
  const config: Record<string, unknown> = { ...tokenizerConfig }
  const state = { config, kinds: [...kinds], adds: new Map<string, boolean>() }
  if (!tokenizerJson) return withStatedAdds(state)
  if (tokenizerConfig) {
    if (!config.bos_token && config.cls_token) config.bos_token = config.cls_token
    if (!config.eos_token && config.sep_token) config.eos_token = config.sep_token
  }
  const processor = tokenizerJson.post_processor
  const processors = isObject(processor)
    ? Array.isArray(processor.processors)
      ? processor.processors
      : [processor]
    : []
  for (const each of processors) {
    if (!isObject(each)) continue
    if (each.type === 'RobertaProcessing') readRoberta(each, state, tokenizerConfig !== undefined)
    if (each.type === 'TemplateProcessing') readTemplate(each, state, tokenizerConfig !== undefined)
  }
  return withStatedAdds(state)
}

/** What tokenizer_config.json says outright counts more. */
function withStatedAdds(state: Processed): Processed {
  for (const kind of state.kinds) {
    const stated = state.config[`add_${kind}_token`]
    if (typeof stated === 'boolean') state.adds.set(kind, stated)
  }
  return state
}

function readRoberta(processor: Config, { config, adds }: Processed, hasConfig: boolean): void {
  for (const kind of ['bos', 'eos', 'sep']) adds.set(kind, true)
  if (!hasConfig) return
  const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)
  if (!config.cls_token) config.cls_token = first(processor.cls) ?? config.bos_token
  if (!config.sep_token) config.sep_token = first(processor.sep) ?? config.eos_token
}

const specialIn = (piece: unknown): string | undefined => {
  const token = isObject(piece) ? piece.SpecialToken : undefined
  return isObject(token) && typeof token.id === 'string' && token.id !== '' ? token.id : undefined
}

const sequenceIn = (piece: unknown): unknown => {
  const sequence = isObject(piece) ? piece.Sequence : undefined
  return isObject(sequence) ? sequence.id : undefined
}

function readTemplate(processor: Config, state: Processed & { kinds: string[] }, hasConfig: boolean): void {
  const { config, adds } = state
  const single = Array.isArray(processor.single) ? processor.single : []
  const pair = Array.isArray(processor.pair) ? processor.pair : []
  const first = single.length > 1 ? specialIn(single[0]) : undefined
  const last = single.length > 1 ? specialIn(single.at(-1)) : undefined
  // Without tokenizer_config.json nothing else says which tokens these are.
  let [bos, cls] = [config.bos_token, config.cls_token]
  let eos = config.eos_token
  if (first !== undefined) {
    if (!hasConfig) bos = first
    else if (!isSame(first, bos) && !isSame(first, cls)) {
      if (!bos) config.bos_token = bos = first
      if (!cls) config.cls_token = cls = first
    }
    adds.set('bos', isSame(first, bos) || isSame(first, cls))
  }
  if (last !== undefined) {
    if (!hasConfig) eos = last
    else if (!isSame(last, eos)) {
      const kind = ['eot', 'eom'].find((each) => !state.kinds.includes(each))
      if (kind !== undefined) {
        state.kinds.push(kind)
        config[`${kind}_token`] = eos
      }
      config.eos_token = eos = last
    }
    adds.set('eos', true)
  }
  readPair(pair, { first, last, eos }, state, hasConfig)
}

/** Only a text is equal to the name of a token here; a token that is stated as an object is not. */
const isSame = (token: string, stated: unknown): boolean => token === stated

interface Ends {
  readonly first: string | undefined
  readonly last: string | undefined
  readonly eos: unknown
}

/** What stands between two texts. */
function readPair(
  pair: readonly unknown[],
  { first, last, eos }: Ends,
  { config, adds }: Processed,
  hasConfig: boolean,
): void {
  const start = first !== undefined && specialIn(pair[0]) === first ? 1 : 0
  const end = last !== undefined && specialIn(pair.at(-1)) === last ? -1 : undefined
  const inner = pair.slice(start, end)
  if (inner.length === 0 || sequenceIn(inner[0]) !== 'A' || sequenceIn(inner.at(-1)) !== 'B') return
  const between = inner.slice(1, -1)
  if (between.length === 0) return
  const separates = (piece: unknown): boolean => {
    const token = specialIn(piece)
    return token !== undefined && (isSame(token, config.sep_token) || isSame(token, eos))
  }
  const isSeparated = (separates(between[0]) && last === undefined) || (between.length === 2 && separates(between[1]))
  adds.set('sep', isSeparated)
  if (isSeparated && !config.sep_token && hasConfig) config.sep_token = eos
}

function specialIds(
  files: TokenizerFiles,
  { config, kinds }: Processed,
  { limit, known = {}, replaced = {} }: SpecialOptions,
): Map<string, number> {
  const ids = new Map<string, number>()
  const set = (kind: string, id: unknown): void => {
    if (isId(id) && !ids.has(kind) && (limit === undefined || id < limit)) ids.set(kind, id)
  }
  if (files.tokenizerConfig)
    for (const kind of kinds) {
      const content = tokenText(config[`${kind}_token`])
      if (content !== undefined) set(kind, files.added.find((token) => token.content === content)?.id)
    }
  const inner = isObject(files.raw.text_config) ? files.raw.text_config : {}
  for (const kind of kinds) set(kind, files.raw[`${kind}_token_id`] ?? inner[`${kind}_token_id`])
  for (const [kind, id] of Object.entries(known)) set(kind, id)
  for (const [kind, id] of Object.entries(replaced)) ids.set(kind, id)
  return ids
}

async function chatTemplate(config: Config, directory: TokenizerFiles['directory']): Promise<unknown> {
  if ('chat_template' in config) return config.chat_template
  const main = await templateIn(directory, 'chat_template.jinja')
  if (main === undefined) return (await directory.json('chat_template.json'))?.chat_template
  const more = directory.filesIn(templateFolder).filter((path) => path.endsWith('.jinja'))
  if (more.length === 0) return main
  const named = more.map(async (path) => ({
    name: path.slice(templateFolder.length + 1, -'.jinja'.length),
    template: await templateIn(directory, path),
  }))
  return [{ name: 'default', template: main }, ...(await Promise.all(named))]
}

const templateIn = async (directory: TokenizerFiles['directory'], path: string): Promise<string | undefined> =>
  (await directory.text(path))?.replace(/\r\n?/g, '\n')

function templateEntries(template: unknown): Entry[] {
  if (typeof template === 'string') return templateEntry('tokenizer.chat_template', template)
  if (!Array.isArray(template)) return []
  const named = template.flatMap((each) => {
    const name = isObject(each) && typeof each.name === 'string' ? each.name.replace(/[^A-Za-z0-9]/g, '_') : ''
    return name !== '' && isObject(each) && typeof each.template === 'string' ? [{ name, template: each.template }] : []
  })
  const others = named.filter(({ name }) => name !== 'default')
  const main = named.findLast(({ name }) => name === 'default')
  const names = [...new Set(others.map(({ name }) => name))]
  return [
    ...others.flatMap(({ name, template }) => templateEntry(`tokenizer.chat_template.${name}`, template)),
    ...(names.length > 0 ? [['tokenizer.chat_templates', listOf('str', names.map(text))] as Entry] : []),
    ...(main ? templateEntry('tokenizer.chat_template', main.template) : []),
  ]
}

const templateEntry = (key: string, template: string): Entry[] => (template === '' ? [] : [[key, text(template)]])

/** Lower case and accents, wherever a normalizer deals with them. */
function normalizerEntries(normalizer: unknown): Entry[] {
  const found: { lowercase?: boolean; strip_accents?: boolean } = {}
  const look = (each: unknown, depth: number): void => {
    if (!isObject(each) || depth > maxDepth) return
    if (each.type === 'Lowercase') found.lowercase = true
    else if (each.type === 'StripAccents') found.strip_accents = true
    else if (each.type === 'BertNormalizer') {
      for (const key of ['lowercase', 'strip_accents'] as const) {
        const stated = each[key]
        if (typeof stated === 'boolean') found[key] = stated
        else if (stated === null) delete found[key]
      }
    } else if (each.type === 'Sequence' && Array.isArray(each.normalizers))
      for (const inner of each.normalizers) look(inner, depth + 1)
  }
  look(normalizer, 0)
  return (['lowercase', 'strip_accents'] as const).flatMap((key): Entry[] => {
    const value = found[key]
    return value === undefined ? [] : [[`tokenizer.ggml.normalizer.${key}`, { type: 'bool', value }]]
  })
}

const maxDepth = 32
