// `--special-ids pad=0,unk=100,cls=101,sep=102,mask=103`: the ids of tokens with a special meaning, for vocabularies whose tokens have
// other texts than the standard ones. Those that are not given stay as the model has them, or are found by text.

import {
  findSpecialIds,
  type SpecialIds,
  type SpecialName,
  specialNames,
  tableOf,
  type Vocabulary,
  vocabularyKind,
  vocabularyPart,
} from '../../content/vocabulary.js'
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import type { Model, OptionValues, Part } from '../../model/index.js'
import type { LayoutName } from './parts.js'

export const specialIdsOption = 'special-ids'

/** The ids that were given; undefined when the option was not. */
export function givenSpecialIds(extra: OptionValues | undefined, layout: LayoutName): SpecialIds | undefined {
  const text = extra?.[specialIdsOption]
  if (text === undefined) return undefined
  if (layout === 'stream') refuse('stream files do not store special ids; their readers find them by text')
  const ids: Partial<Record<SpecialName, number>> = {}
  for (const piece of String(text).split(',')) {
    const [, name, digits] = /^\s*([a-z]+)\s*=\s*(\d{1,10})\s*$/.exec(piece) ?? []
    if (!isSpecialName(name)) refuse(`"${piece}" is no NAME=ID with one of the names ${specialNames.join(', ')}`)
    if (ids[name] !== undefined) refuse(`${name} is given twice`)
    ids[name] = Number(digits)
  }
  return ids
}

/** The vocabulary with these ids in place of its own. */
export function withSpecialIds(part: Part, given: SpecialIds): Part {
  const { tokens, special, table: known } = part.content as Vocabulary
  for (const [name, id] of Object.entries(given)) {
    if (id >= tokens.length) refuse(`${name} is ${id}, but the vocabulary has ${tokens.length} tokens`)
  }
  const table = known ?? tableOf(tokens)
  const ids: SpecialIds = { ...findSpecialIds(table), ...special, ...given }
  const missing = specialNames.filter((name) => ids[name] === undefined)
  if (missing.length > 0)
    refuse(`only all five can be stored, but the vocabulary does not tell ${missing.join(', ')}; give them too`)
  return vocabularyPart(table, ids)
}

/** The model with the ids that were given. Without a vocabulary they would be lost in silence, so that is refused. */
export function giveSpecialIds(model: Model, given: SpecialIds | undefined): Model {
  if (!given) return model
  const isVocabulary = ({ kind }: Part): boolean => kind === vocabularyKind
  if (!model.parts.some(isVocabulary))
    refuse(`the model has no vocabulary; bring one with ${callerWord('--vocab', 'parts')}`)
  return { ...model, parts: model.parts.map((part) => (isVocabulary(part) ? withSpecialIds(part, given) : part)) }
}

const isSpecialName = (name: string | undefined): name is SpecialName =>
  (specialNames as readonly (string | undefined)[]).includes(name)

function refuse(message: string): never {
  return failWith(usageCodes.option, { file: callerWord(`--${specialIdsOption}`, specialIdsOption), message })
}
