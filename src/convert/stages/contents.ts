// What a model holds beside its tensors: the files that belong to it, metadata, parts, and what is stowed among the metadata.

import { companionsBeside, fileKind, findFile } from '../../content/companions.js'
import { vocabularyKind } from '../../content/vocabulary.js'
import { parseVocabularyText } from '../../content/vocabulary-text.js'
import { callerWord, failWith, usageCodes, writeCodes } from '../../errors/index.js'
import {
  type Fit,
  type MetaValue,
  type Model,
  type Part,
  readPayload,
  text,
  type WriteCapabilities,
} from '../../model/index.js'
import { isStowageKey, type Stower } from '../../stow/index.js'
import { type ActionLog, applyFit, noter } from '../actions.js'
import type { ConvertOptions } from '../options.js'
import { type State, withActions } from './state.js'
import { parseSetting, type Setting, typeToName } from './typed-value.js'

export const vocabularyFile = 'vocab.txt'
/** A larger vocabulary is carried as a file, but not looked into. */
const maxVocabulary = 1 << 27

/** The files that belong to the model come along, as far as they are wanted and have a place. */
export async function addFiles(state: State): Promise<State> {
  const { model, write, options } = state
  const actions: ActionLog = []
  const parts = wantedParts(model, options, actions)
  const done = (): State => withActions({ ...state, model: { ...model, parts } }, actions)
  if (options.files === false) return done()
  // What merely lies beside a single file is not lost when it stays there, so only what has a place is taken along.
  for (const part of model.files[0]?.folder ? await companionsBeside(model) : []) {
    if (options.without?.includes(part.name!) || findFile(model.parts, part.name!) || !write.part(part).fits) continue
    noter(actions, 'part', part.name!)('add', 'none', { reason: 'found beside the input' })
    parts.push(part)
  }
  const at = parts.findIndex((part) => part.kind === fileKind && part.name === vocabularyFile)
  const vocabulary = at < 0 ? undefined : await vocabularyFor(parts, parts[at]!, write)
  if (vocabulary) {
    noter(actions, 'part', vocabularyFile)('map', 'form', { reason: 'its tokens have a place, as a vocabulary' })
    parts[at] = vocabulary
  }
  return done()
}

/** All but what nobody wants. */
function wantedParts({ parts, files: [main] }: Model, options: ConvertOptions, actions: ActionLog): Part[] {
  const names = options.without ?? []
  for (const name of names) {
    if (parts.some((part) => part.name === name || part.kind === name)) continue
    const known = parts.map((part) => part.name ?? part.kind)
    const message = `there is no part ${JSON.stringify(name)} to leave out; the model has ${known.join(', ') || 'none'}`
    failWith(usageCodes.option, { file: main?.name ?? '', path: callerWord('--without', 'without'), message })
  }
  const isUnwanted = ({ kind, name }: Part): boolean =>
    (options.files === false && kind === fileKind) ||
    names.includes(kind) ||
    (name !== undefined && names.includes(name))
  for (const part of parts.filter(isUnwanted))
    noter(actions, 'part', part.name ?? part.kind)('drop', 'content', { requested: true, reason: 'left out' })
  return parts.filter((part) => !isUnwanted(part))
}

/** For targets that hold vocabularies but no files. */
async function vocabularyFor(parts: readonly Part[], file: Part, write: WriteCapabilities): Promise<Part | undefined> {
  if (parts.some(({ kind }) => kind === vocabularyKind) || write.part(file).fits) return undefined
  if (!file.data || file.data.byteLength === 0 || file.data.byteLength > maxVocabulary) return undefined
  const { part } = parseVocabularyText(await readPayload(file.data))
  return write.part(part).fits ? part : undefined
}

/** Each entry of the metadata fits, is mapped to another type, stowed, or dropped. */
export function fitMetadata(state: State): State {
  const { model, write, stower, options } = state
  const metadata = new Map<string, MetaValue>()
  const keys: string[] = []
  const actions: ActionLog = []
  const unset = new Set(options.unset)
  const set = new Map((options.set ?? []).map((setting) => [setting[0], setting]))
  const put = (key: string, value: MetaValue | undefined): void => {
    if (value) metadata.set(key, value)
    keys.push(key)
  }
  for (const [key, value] of model.metadata) {
    const note = noter(actions, 'metadata', key)
    const given = set.get(key)
    if (unset.has(key)) note('drop', 'content', { requested: true, reason: 'unset' })
    else if (given !== undefined) {
      set.delete(key)
      const typed = givenValue(given, value, options.name)
      note('set', 'none', { requested: true, to: given[1], ...typeToName(typed) })
      put(key, storedAs(given, typed, { write, stower, file: options.name }))
    } else {
      const fit = stower && isStowageKey(key) ? reserved : write.metadata(key, value)
      const isStowed = stower !== undefined && (!fit.fits || isOther(fit.as, value))
      const fitted = isStowed ? fit.as : applyFit(fit, value, note)
      if (isStowed) {
        stower.metadata(key, value, fit.as)
        note('stow', 'none', fit.reason === undefined ? {} : { reason: fit.reason })
      } else if (fitted && fit.as === undefined) note('copy', 'none')
      if (fitted || isStowed) put(key, fitted)
    }
  }
  for (const [key, given] of set) {
    const typed = givenValue(given, undefined, options.name)
    noter(actions, 'metadata', key)('set', 'none', { requested: true, to: given[1], ...typeToName(typed) })
    const isText = typed.type === 'str'
    const value = isText
      ? newEntry(key, typed, write, options.name)
      : storedAs(given, typed, { write, stower, file: options.name })
    put(key, value)
  }
  // Keys that nothing will tell from those of the model.
  const added = stower?.remembersAdded ? [] : (write.addedKeys?.(keys) ?? [])
  const reason = 'the rules of the target ask for it'
  for (const key of added) noter(actions, 'metadata', key)('add', 'form', { reason })
  return withActions({ ...state, model: { ...model, metadata }, keys }, actions)
}

const reserved: Fit<MetaValue> = { fits: false, reason: 'the key is reserved for what has no other place' }

/** A target that changes only how it writes a value gives the same value back. */
const isOther = (as: MetaValue | undefined, value: MetaValue): boolean => as !== undefined && as !== value

/** The value of a setting: of the type that it names, else of the one that the entry has, else text. */
function givenValue([key, value, type]: Setting, old: MetaValue | undefined, file: string): MetaValue {
  const refuse = (message: string): never =>
    failWith(usageCodes.option, { file, path: key, message: `${callerWord('--set', 'set')}: ${message}` })
  return parseSetting(value, type, old, refuse)
}

interface SetContext {
  readonly write: WriteCapabilities
  readonly stower: Stower | undefined
  readonly file: string
}

/** What the target is given for a value that was set: the value, or the text with a note of what it stands for. */
function storedAs([key, value]: Setting, typed: MetaValue, { write, stower, file }: SetContext): MetaValue {
  const fit = write.metadata(key, typed)
  if (fit.fits && (!stower || !isOther(fit.as, typed))) return fit.as ?? typed
  const instead = fit.as ?? newEntry(key, text(value), write, file)
  stower?.metadata(key, typed, instead)
  return instead
}

function newEntry(key: string, value: MetaValue, write: WriteCapabilities, file: string): MetaValue {
  const fit = write.metadata(key, value)
  if (!fit.fits) {
    const reason = fit.reason ?? 'the target has no metadata'
    failWith(writeCodes['name-unsupported'], { file, path: key, message: `cannot be set: ${reason}` })
  }
  return fit.as ?? value
}

/** Each part is kept by its own format, taken or mapped by the target, stowed, computed again, or dropped. */
export async function fitParts(state: State): Promise<State> {
  const { model } = state
  const actions: ActionLog = []
  const parts: Part[] = []
  for (const part of model.parts) {
    const planned = await planPart(part, state, actions)
    if (planned) parts.push(planned)
  }
  return withActions({ ...state, model: { ...model, parts } }, actions)
}

async function planPart(part: Part, state: State, actions: ActionLog): Promise<Part | undefined> {
  const { write, stower, options } = state
  const note = noter(actions, 'part', part.name ?? part.kind)
  const isOwner = (part.owner ?? state.source.format) === state.target.id
  if (part.sharing === 'derived') {
    note('recompute', 'none', { reason: 'derived from the rest' })
    return isOwner ? part : undefined
  }
  const isOwn = part.sharing === 'private' && isOwner
  const change = isOwn ? write.rewrites?.(part) : undefined
  if (change !== undefined) {
    note('map', 'form', { reason: change })
    return part
  }
  const fit = isOwn ? { fits: true } : write.part(part)
  if (fit.fits && !fit.as) {
    note('copy', 'none')
    return part
  }
  const why = stower ? await stower.part(part, options.signal) : undefined
  if (!stower || why !== undefined) return applyFit(withReason(fit, why), part, note)
  note('stow', 'none', fit.reason === undefined ? {} : { reason: fit.reason })
  return fit.as
}

const withReason = <F extends { readonly fits: boolean; readonly reason?: string }>(fit: F, why?: string): F =>
  fit.fits || why === undefined ? fit : { ...fit, reason: `${fit.reason ?? 'there is no place for it'}, and ${why}` }

/** What has no other place goes into the target's metadata, so that it comes back with the model. */
export function stow(state: State): State {
  const { stower, items, model, keys, options } = state
  if (!stower) return state
  const names = items.flatMap(({ tensor }) => tensor?.name ?? [])
  const tensors = items.flatMap(({ stored }) => stored ?? [])
  const entries = stower.entries({ keys, names, tensors }, options.name)
  return { ...state, model: { ...model, metadata: new Map([...model.metadata, ...entries]) } }
}
