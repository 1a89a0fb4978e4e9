// A profile describes the contents of a known model: its tensors with shapes and types, and the metadata it must have. Profiles are data.
// Shapes use named dimensions, and a name with `{i}` stands for one tensor per layer.

import { encoderPrefix, oldName } from '../content/encoder-names.js'
import { vocabularyOf } from '../content/vocabulary.js'
import { collectingReport, defineCodes, error, type Finding, note, warning } from '../errors/index.js'
import { formatById } from '../formats/index.js'
import { type MetaValue, type Model, type Tensor, text } from '../model/index.js'
import { findOrientation } from '../model/orientation.js'

export const profileCodes = defineCodes('profile', {
  'tensor-missing': error('A tensor that the profile requires is missing.'),
  'tensor-extra': warning('The model has a tensor that the profile does not know.'),
  shape: error('A tensor does not have the shape that the profile requires.'),
  dtype: error('A tensor does not have an element type that the profile allows.'),
  'metadata-missing': error('A metadata key that the profile requires is missing.'),
  'metadata-value': error('A metadata value does not match the dimension that it states.'),
  'metadata-unchecked': note(
    'The metadata keys of the profile were not checked: the container has no place for them, or its format does not require them and none is present.',
  ),
  'vocabulary-size': error('The vocabulary does not have the number of tokens that the profile requires.'),
})

export interface ProfileTensor {
  /** With `{i}`, one tensor for each number below the dimension `each`. */
  readonly name: string
  readonly each?: string
  /** Names of dimensions, or numbers. */
  readonly shape: readonly (string | number)[]
  /** Ids of the accepted types. Default: those of the profile. */
  readonly dtypes?: readonly string[]
  /** The weight of a linear layer, given as [out, in]; a model may also store all of them transposed. */
  readonly linear?: true
  readonly optional?: true
}

export interface Profile {
  readonly name: string
  readonly title: string
  readonly dimensions: Readonly<Record<string, number>>
  readonly dtypes: readonly string[]
  readonly tensors: readonly ProfileTensor[]
  /** Required keys. If a dimension is named, the value must be its size. */
  readonly metadata: readonly { readonly key: string; readonly dimension?: string }[]
  /** The dimension that counts the tokens, for models that include their vocabulary. */
  readonly vocabulary?: string
}

/** A tensor that a profile requires, with its pattern filled in. */
interface Wanted {
  readonly name: string
  readonly shape: readonly number[]
  readonly dtypes: readonly string[]
  readonly isLinear: boolean
  readonly isOptional: boolean
}

export function wantedTensors(profile: Profile): Wanted[] {
  const sizeOf = (dimension: string | number): number => {
    const size = typeof dimension === 'number' ? dimension : profile.dimensions[dimension]
    if (size === undefined) throw new Error(`the profile ${profile.name} has no dimension ${dimension}`)
    return size
  }
  return profile.tensors.flatMap(({ name, each, shape, dtypes, linear, optional }) => {
    const wanted = {
      shape: shape.map(sizeOf),
      dtypes: dtypes ?? profile.dtypes,
      isLinear: linear ?? false,
      isOptional: optional ?? false,
    }
    if (each === undefined) return [{ name, ...wanted }]
    return Array.from({ length: sizeOf(each) }, (_, i) => ({ name: name.replace('{i}', String(i)), ...wanted }))
  })
}

/**
 * All differences between a model and a profile. Stowed content must have been restored. Tensor names may have a prefix, or be those of old
 * files.
 */
export function checkProfile(model: Model, profile: Profile): Finding[] {
  const findings: Finding[] = []
  const report = collectingReport(model.files[0]?.name ?? '', findings)
  const tensors = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  const prefix = encoderPrefix(tensors.keys())
  const isTransposed = findOrientation(model.tensors).linear === 'in-out'
  const known = new Set<string>()
  for (const wanted of wantedTensors(profile)) {
    const name = prefix + wanted.name
    const tensor = tensors.get(name) ?? tensors.get(oldName(name))
    known.add(tensor?.name ?? name)
    if (tensor) checkTensor(tensor, wanted, isTransposed, report)
    else if (!wanted.isOptional) {
      const message = `${JSON.stringify(name)} [${wanted.shape.join(', ')}] is missing`
      report.report(profileCodes['tensor-missing'], { offset: 0, path: pathOf(name), message })
    }
  }
  for (const { name, shape, data } of model.tensors) {
    if (known.has(name)) continue
    const message = `${JSON.stringify(name)} [${shape.join(', ')}] is not part of ${profile.name}`
    report.report(profileCodes['tensor-extra'], { offset: data?.origin?.offset ?? 0, path: pathOf(name), message })
  }
  checkMetadata(model, profile, report)
  checkVocabulary(model, profile, report)
  return findings
}

type Report = ReturnType<typeof collectingReport>

const pathOf = (name: string): string => `tensor[${JSON.stringify(name)}]`

function checkTensor(tensor: Tensor, wanted: Wanted, isTransposed: boolean, report: Report): void {
  const place = { offset: tensor.data?.origin?.offset ?? 0, path: pathOf(tensor.name) }
  const shape = wanted.isLinear && isTransposed ? wanted.shape.toReversed() : wanted.shape
  if (tensor.shape.length !== shape.length || shape.some((dim, i) => dim !== tensor.shape[i])) {
    const message = `${JSON.stringify(tensor.name)} is [${tensor.shape.join(', ')}], not [${shape.join(', ')}]`
    report.report(profileCodes.shape, { ...place, message })
  }
  const type = (tensor.encoding ?? tensor.dtype).id
  if (wanted.dtypes.includes(type)) return
  const message = `${JSON.stringify(tensor.name)} is ${type}, not ${wanted.dtypes.join(' or ')}`
  report.report(profileCodes.dtype, { ...place, message })
}

function checkMetadata(model: Model, profile: Profile, report: Report): void {
  const why = whyUnchecked(model, profile)
  if (why !== undefined) {
    const message = `${profile.metadata.length} metadata keys were not looked for: ${why}`
    report.report(profileCodes['metadata-unchecked'], { offset: 0, path: 'metadata', message })
    return
  }
  for (const { key, dimension } of profile.metadata) {
    const place = { offset: 0, path: `metadata[${JSON.stringify(key)}]` }
    const value = model.metadata.get(key)
    if (!value)
      report.report(profileCodes['metadata-missing'], { ...place, message: `${JSON.stringify(key)} is missing` })
    else if (dimension !== undefined && numberOf(value) !== profile.dimensions[dimension]) {
      const shown = 'value' in value ? String(value.value) : value.type
      const message = `${JSON.stringify(key)} is ${shown}, not ${profile.dimensions[dimension]}`
      report.report(profileCodes['metadata-value'], { ...place, message })
    }
  }
}

/** A model without any of the keys is reported only if its format requires them. */
function whyUnchecked({ format, metadata, ...rest }: Model, { metadata: keys }: Profile): string | undefined {
  if (keys.length === 0 || keys.some(({ key }) => metadata.has(key))) return undefined
  const capabilities = formatById(format)?.capabilities
  const write = capabilities?.writeFor?.({ format, metadata, ...rest }, {}) ?? capabilities?.write
  if (!write?.metadata('key', text('value')).fits) return 'this kind of file has no place for them'
  const isAsked = keys.some(({ key }) => capabilities?.requiredKeys?.includes(key))
  return isAsked ? undefined : 'this format does not ask for them, and none is there'
}

function numberOf(value: MetaValue): number {
  if (value.type === 'str') return value.value.trim() === '' ? Number.NaN : Number(value.value)
  return 'value' in value && (typeof value.value === 'number' || typeof value.value === 'bigint')
    ? Number(value.value)
    : Number.NaN
}

function checkVocabulary(model: Model, profile: Profile, report: Report): void {
  const vocabulary = vocabularyOf(model.parts)
  const count = vocabulary?.table?.count ?? vocabulary?.tokens.length
  if (profile.vocabulary === undefined || count === undefined) return
  const wanted = profile.dimensions[profile.vocabulary]
  if (count === wanted) return
  const message = `the vocabulary has ${count} tokens, not ${wanted}`
  report.report(profileCodes['vocabulary-size'], { offset: 0, path: 'vocabulary', message })
}
