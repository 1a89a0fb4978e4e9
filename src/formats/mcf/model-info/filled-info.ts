// ModelInfo as writers fill it says nothing that is not known otherwise: its fields and keys come from config.json, and the model's name
// from where the model lies. A section that holds just this is derived. It is recognised by its bytes: they are those that a writer makes.
import { compareBytes } from '../../../bytes/index.js'
import { findFile } from '../../../content/companions.js'
import {
  type JsonValue,
  type Metadata,
  type MetaValue,
  type Model,
  type Part,
  type Payload,
  readPayload,
} from '../../../model/index.js'
import { notesOf } from '../notes.js'
import { encodeModelInfo } from './encode.js'
import { filledKeys, modelInfoFromConfig } from './from-config.js'
import { modelInfoFromMetadata } from './from-metadata.js'
import { hasIntMark, intMarkKey } from './int-mark.js'
import { describeModelInfo, emptyModelInfo, type ModelInfo, type ParsedModelInfo } from './model-info.js'

export const modelInfoKind = 'mcf.model-info'

/** A larger config.json is carried, but not looked into. */
export const maxConfig = 1 << 24

/** What the part of kind `mcf.model-info` holds, where the section can be understood. */
export interface ModelInfoContent extends ParsedModelInfo {
  /** Nothing in the section is the model's own but some of `extras`. */
  readonly isDerived: boolean
  /** The keys among `extras` that writers fill in; absent where there are none. */
  readonly filled?: ReadonlySet<string> | undefined
  /** The config.json that the section was filled from. */
  readonly config?: Payload | undefined
}

/** `bytes` are those of the section; `config` is read where the section says that it was filled from it. */
export async function judgeModelInfo(
  parsed: ParsedModelInfo,
  bytes: Uint8Array,
  config: Payload | undefined,
  signal: AbortSignal | undefined,
): Promise<ModelInfoContent> {
  const { info, extras } = parsed
  const mark = hasIntMark(extras) ? [intMarkKey] : []
  const given = config && extras.has(filledKeys[0]) && config.byteLength <= maxConfig ? config : undefined
  const filled = given && modelInfoFromConfig(await readPayload(given, signal), info.modelName)
  // Older files have a name alone where there was no config.json.
  const { modelName } = info
  const expected = filled ? [filled.info] : [modelInfoFromMetadata(extras, modelName), { ...emptyModelInfo, modelName }]
  const isDerived =
    expected.some((each) => isSameInfo(info, each)) &&
    [...(filled?.extras ?? [])].every(([key, value]) => isSameEntry(value, extras.get(key))) &&
    isAsWritten(parsed, bytes)
  const keys = new Set([...(isDerived && filled ? filled.extras.keys() : []), ...mark])
  return { ...parsed, isDerived, ...(keys.size > 0 && { filled: keys }), ...(isDerived && { config: given }) }
}

/** Whether the section is as a writer makes it, to the last byte. */
function isAsWritten({ info, extras }: ParsedModelInfo, bytes: Uint8Array): boolean {
  const isWritable = [...extras.values()].every((value) => value.type !== 'f32' || Number.isFinite(value.value))
  return isWritable && compareBytes(encodeModelInfo(info, extras), bytes) === 0
}

const isSameEntry = (a: MetaValue, b: MetaValue | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

const isSameInfo = (a: ModelInfo, b: ModelInfo): boolean =>
  Object.keys(emptyModelInfo).every((key) => Object.is(a[key as keyof ModelInfo], b[key as keyof ModelInfo]))

/** The keys and values of the section that are the model's own. */
export const ownExtras = ({ extras, filled }: ModelInfoContent): Metadata =>
  filled ? new Map([...extras].filter(([key]) => !filled.has(key))) : extras

/** Those that follow from config.json. */
export const configExtras = ({ extras, filled }: ModelInfoContent): Metadata =>
  filled ? new Map([...extras].filter(([key]) => filled.has(key) && key !== intMarkKey)) : new Map()

export const modelInfoOf = (parts: readonly Part[]): Part | undefined =>
  parts.find(({ kind }) => kind === modelInfoKind)

/** For `inspect`: the fields, and the keys that are not shown as metadata. The mark of integers comes and goes with the tensors. */
export function describeContent(content: ModelInfoContent): JsonValue {
  const filled = [...configExtras(content)]
  const shown = filled.map(([key, value]) => [key, (value as { readonly value: string | number }).value] as const)
  return { ...(describeModelInfo(content.info) as object), ...Object.fromEntries(shown) }
}

/** Keys that the writer gives values of its own when it writes this model. */
export function keysToFill({ parts }: Pick<Model, 'parts'>): readonly string[] {
  if (!findFile(parts, 'config.json')) return [intMarkKey]
  const part = modelInfoOf(parts)
  const isFilled = part ? (part.content as ModelInfoContent | undefined)?.config : !notesOf(parts)
  return isFilled ? [...filledKeys, intMarkKey] : [intMarkKey]
}
