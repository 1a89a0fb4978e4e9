// ModelInfo as a writer fills it by itself says nothing that is not known otherwise: its fields and keys come from config.json, and the
// model's name from where the model lies. Such a section is derived. It is recognised by its bytes: they are those that the writer makes.
import { compareBytes } from '../../bytes/index.js'
import { findFile } from '../../model/companions.js'
import type { JsonValue, Metadata, Model, Part, Payload } from '../../model/index.js'
import { describeModelInfo, emptyModelInfo, type ModelInfo, type ParsedModelInfo } from './model-info.js'
import { encodeModelInfo } from './model-info-bytes.js'
import { filledKeys, modelInfoFromConfig } from './model-info-config.js'
import { notesOf } from './notes.js'

export const modelInfoKind = 'mcf.model-info'

/** A larger config.json is carried, but not looked into. */
export const maxConfig = 1 << 24

/** What the part of kind `mcf.model-info` holds, where the section can be understood. */
export interface ModelInfoContent extends ParsedModelInfo {
  /** Nothing in the section is the model's own but `extras`. */
  readonly isDerived: boolean
  /** The keys among `extras` that the writer took from config.json, and the file as it was then. */
  readonly filled?: { readonly keys: ReadonlySet<string>; readonly config: Payload } | undefined
}

/** The keys that follow from config.json, when all of the section does; none when it says nothing but a name. */
export function derivedKeys(
  { info, extras }: ParsedModelInfo,
  bytes: Uint8Array,
  config: Uint8Array | undefined,
): ReadonlySet<string> | undefined {
  const filled = config && modelInfoFromConfig(config, info.modelName)
  const expected = filled?.info ?? { ...emptyModelInfo, modelName: info.modelName }
  const keys: Metadata = filled?.extras ?? new Map()
  const isFilled =
    isSameInfo(info, expected) &&
    [...keys].every(([key, value]) => JSON.stringify(extras.get(key)) === JSON.stringify(value))
  const areFinite = [...extras.values()].every((value) => value.type !== 'f32' || Number.isFinite(value.value))
  if (!isFilled || !areFinite || compareBytes(encodeModelInfo(info, extras), bytes) !== 0) return undefined
  return new Set(keys.keys())
}

const isSameInfo = (a: ModelInfo, b: ModelInfo): boolean =>
  Object.keys(emptyModelInfo).every((key) => Object.is(a[key as keyof ModelInfo], b[key as keyof ModelInfo]))

/** The keys and values of the section that are the model's own. */
export const ownExtras = ({ extras, filled }: ModelInfoContent): Metadata =>
  filled ? new Map([...extras].filter(([key]) => !filled.keys.has(key))) : extras

/** Those that follow from config.json. */
export const filledExtras = ({ extras, filled }: ModelInfoContent): Metadata =>
  filled ? new Map([...extras].filter(([key]) => filled.keys.has(key))) : new Map()

export const modelInfoOf = (parts: readonly Part[]): Part | undefined =>
  parts.find(({ kind }) => kind === modelInfoKind)

/** For `inspect`: the fields, and the keys that are not shown as metadata. */
export function describeContent(content: ModelInfoContent): JsonValue {
  const filled = [...filledExtras(content)].map(([key, value]) => [key, (value as { value: string | number }).value])
  return { ...(describeModelInfo(content.info) as object), ...Object.fromEntries(filled) }
}

/** Keys that the writer gives values of its own when it fills ModelInfo from the config.json of this model. */
export function keysToFill({ parts }: Pick<Model, 'parts'>): readonly string[] {
  if (!findFile(parts, 'config.json')) return []
  const part = modelInfoOf(parts)
  const isFilled = part ? (part.content as ModelInfoContent | undefined)?.filled : !notesOf(parts)
  return isFilled ? filledKeys : []
}
