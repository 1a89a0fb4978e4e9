// The `general.*` entries: what a model is called, where it comes from and how it is licensed. The model card says most, the configuration
// and the name of the directory the rest; each fills in what is still missing.
import { listOf, type MetaValue, text } from '../../model/index.js'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { type NameParts, partsOfName, titleOf } from './name-parts.js'
import { type ParameterCount, sizeLabel } from './size-label.js'

export interface GeneralSources {
  readonly card: Config
  readonly config: Config
  readonly generation: Config
  /** What the directory is called. */
  readonly folder: string
  readonly parameters: ParameterCount
}

type Entry = readonly [key: string, value: MetaValue]

export function generalEntries(sources: GeneralSources): Entry[] {
  const { card, generation, parameters } = sources
  const facts = fillNames(cardFacts(card), sources)
  facts.size_label ??= sizeLabel(parameters)
  facts.name ??= sources.folder
  return [
    ['general.type', text('model')],
    ...samplingEntries(generation),
    ...factKeys.flatMap(([key, fact]) => textEntry(`general.${key}`, facts[fact])),
    ...originEntries('base_model', baseModels(card), parameters.total),
    ...originEntries('dataset', datasets(card), parameters.total),
    ...listEntry('general.tags', [card.tags, card.pipeline_tag]),
    ...listEntry('general.languages', [card.languages, card.language]),
  ]
}

type Facts = Record<string, unknown>

/** In the order in which they are written. */
export const factKeys: readonly (readonly [key: string, fact: string])[] = [
  ['name', 'name'],
  ['author', 'author'],
  ['version', 'version'],
  ['organization', 'organization'],
  ['finetune', 'finetune'],
  ['basename', 'basename'],
  ['description', 'description'],
  ['size_label', 'size_label'],
  ['license', 'license'],
  ['license.name', 'license_name'],
  ['license.link', 'license_link'],
  ['source.url', 'url'],
  ['source.doi', 'doi'],
  ['source.uuid', 'uuid'],
  ['source.repo_url', 'repo_url'],
]

const cardKeys = [
  'name',
  'author',
  'version',
  'organization',
  'description',
  'finetune',
  'basename',
  'size_label',
  'url',
  'doi',
  'uuid',
  'repo_url',
]

function cardFacts(card: Config): Facts {
  const facts: Facts = {}
  for (const key of cardKeys) facts[key] = card[key] ?? card[`model_${key}`] ?? undefined
  facts.author ??= card.model_creator ?? undefined
  facts.basename ??= card.model_type ?? undefined
  for (const key of ['license', 'license_name', 'license_link']) facts[key] = card[key] ?? undefined
  return facts
}

function fillNames(facts: Facts, { config, folder, parameters }: GeneralSources): Facts {
  const stated = config._name_or_path
  const isName = typeof stated === 'string' && stated.split('/').length <= 2
  const filled = { ...facts }
  for (const id of [isName ? stated : undefined, folder]) {
    if (id === undefined) continue
    const parts = partsOfName(id, parameters.total)
    filled.name ??= parts.name === undefined ? undefined : titleOf(parts.name)
    filled.organization ??= parts.organization === undefined ? undefined : titleOf(parts.organization)
    filled.basename ??= parts.basename
    filled.finetune ??= parts.finetune
    filled.version ??= parts.version
    filled.size_label ??= parts.sizeLabel
  }
  return filled
}

/** Empty texts are not written. */
function textEntry(key: string, value: unknown): Entry[] {
  if (value == null) return []
  const words = Array.isArray(value) ? value.join(',') : String(value)
  return words === '' ? [] : [[key, text(words)]]
}

function listEntry(key: string, values: readonly unknown[]): Entry[] {
  const items = values.flatMap((value) => (typeof value === 'string' ? [value] : Array.isArray(value) ? value : []))
  return items.length === 0
    ? []
    : [
        [
          key,
          listOf(
            'str',
            items.map((each) => text(String(each))),
          ),
        ],
      ]
}

export const samplingKeys = [
  ['top_k', 'top_k', 'i32'],
  ['top_p', 'top_p', 'f32'],
  ['min_p', 'min_p', 'f32'],
  ['xtc_probability', 'xtc_probability', 'f32'],
  ['xtc_threshold', 'xtc_threshold', 'f32'],
  ['temp', 'temperature', 'f32'],
  ['penalty_last_n', 'penalty_last_n', 'i32'],
  ['penalty_repeat', 'penalty_repeat', 'f32'],
  ['mirostat', 'mirostat', 'i32'],
  ['mirostat_tau', 'mirostat_tau', 'f32'],
  ['mirostat_eta', 'mirostat_eta', 'f32'],
] as const

function samplingEntries(generation: Config): Entry[] {
  const entries = samplingKeys.flatMap(([key, from, type]): Entry[] => {
    const stated = generation[from]
    const value = typeof stated === 'boolean' ? Number(stated) : stated
    const fits = typeof value === 'number' && (type === 'f32' || value === (value | 0))
    return fits ? [[`general.sampling.${key}`, { type, value }]] : []
  })
  return [...textEntry('general.sampling.sequence', generation.sequence), ...entries]
}

export const originKeys = ['name', 'author', 'version', 'organization', 'description', 'url', 'doi', 'uuid', 'repo_url']

function baseModels(card: Config): unknown {
  return firstOf(card, ['base_model', 'base_models', 'base_model_sources'])
}

function datasets(card: Config): unknown {
  return firstOf(card, ['datasets', 'dataset', 'dataset_sources'])
}

/** Undefined if none is there. */
function firstOf(card: Config, keys: readonly string[]): unknown {
  const key = keys.find((each) => each in card)
  return key === undefined ? undefined : (card[key] ?? [])
}

function originEntries(kind: 'base_model' | 'dataset', stated: unknown, parameters: number): Entry[] {
  if (stated === undefined) return []
  const list = Array.isArray(stated) ? stated : typeof stated === 'string' ? [stated] : []
  const origins = list.map(
    (each): Config => (typeof each === 'string' ? originOf(each, parameters) : isObject(each) ? each : {}),
  )
  return [
    [`general.${kind}.count`, { type: 'u32', value: origins.length }],
    ...origins.flatMap((origin, i) =>
      originKeys.flatMap((key) => textEntry(`general.${kind}.${i}.${key}`, origin[key])),
    ),
  ]
}

export const hub = 'https://huggingface.co/'

/** An identifier of the hub, or an address. */
export function originOf(id: string, parameters: number): Config {
  if (!/^(https?|ssh):\/\//.test(id)) {
    const parts = partsOfName(id, parameters)
    const isHub = parts.organization !== undefined && parts.name !== undefined
    return { ...titles(parts), ...(isHub && { repo_url: `${hub}${parts.organization}/${parts.name}` }) }
  }
  const inner = /^https?:\/\/huggingface.co\/([^/]+\/[^/]+)$/.exec(id)?.[1]
  return { ...(inner !== undefined && titles(partsOfName(inner, parameters))), repo_url: id }
}

const titles = ({ name, organization, version }: NameParts): Config => ({
  name: name === undefined ? undefined : titleOf(name),
  organization: organization === undefined ? undefined : titleOf(organization),
  version,
})
