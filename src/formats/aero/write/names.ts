// The name and the architecture that a manifest and a set index state. They are those of the metadata; a model of another format, which may
// state them elsewhere, is searched for them. A file of the format itself that leaves them empty stays as it is.
import { findableNames } from '../../../content/model-names.js'
import {
  type Metadata,
  type MetaValue,
  type Model,
  type ModelNames,
  text,
  type WriteOptions,
} from '../../../model/index.js'
import { containerKind, setKind } from '../file.js'

/** The metadata of the file that the model was read from; some of it may be there for readers of AERO only. */
function ownMetadata({ parts }: Model): Metadata | undefined {
  const container = parts.find(({ kind }) => kind === containerKind || kind === setKind)
  return (container?.content as { readonly metadata: Metadata } | undefined)?.metadata
}

/** Name and architecture of the metadata, as the manifest wants them. */
export function modelNames(metadata: Metadata): ModelNames {
  const textOf = (key: string): string => {
    const value = metadata.get(key)
    return value?.type === 'str' ? value.value : ''
  }
  return { name: textOf('model_name'), architecture: textOf('architecture') }
}

export async function namesToWrite(
  model: Model,
  { names }: Pick<WriteOptions, 'names'>,
  target = 'aero',
): Promise<ModelNames> {
  const stated = modelNames(model.metadata)
  const own = ownMetadata(model)
  const isHome = model.origin ? model.origin.format === target : own !== undefined
  if (isHome || (stated.name && stated.architecture)) return stated
  const stored = own && modelNames(own)
  const found = await names?.()
  return {
    name: stated.name || stored?.name || found?.name || '',
    architecture: stated.architecture || stored?.architecture || found?.architecture || '',
  }
}

/** The metadata with the names under the keys that the reference writer has for them, where they are known. */
export function withNames(metadata: Metadata, { name, architecture }: ModelNames): Map<string, MetaValue> {
  const named = new Map(metadata)
  if (name !== '' && !named.has('model_name')) named.set('model_name', text(name))
  if (architecture !== '' && !named.has('architecture')) named.set('architecture', text(architecture))
  return named
}

/** The metadata keys that readers find in the output because of these names, although the model does not have them. */
export function addedKeys(model: Model, target: string, keys: readonly string[]): readonly string[] {
  if ((model.origin?.format ?? model.format) === target) return []
  const own = ownMetadata(model)
  const stored = own && modelNames(own)
  const findable = new Set(findableNames(model))
  const known: readonly [string, boolean][] = [
    ['model_name', findable.has('name') || Boolean(stored?.name)],
    ['architecture', findable.has('architecture') || Boolean(stored?.architecture)],
  ]
  return known.flatMap(([key, isKnown]) => (isKnown && !keys.includes(key) ? [key] : []))
}
