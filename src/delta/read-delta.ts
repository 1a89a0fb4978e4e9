// A delta as it is opened: a safetensors file of ours, or a directory in the public form, whose index says how the tensors are encoded.
import { failWith } from '../errors/index.js'
import type { Model, Payload } from '../model/index.js'
import { shown } from '../wire/json/fields.js'
import { type ChecksumName, checksumNames } from './checksums.js'
import { deltaCodes } from './codes.js'
import { container } from './container.js'
import { type DeltaDocument, documentKey, parseDocument } from './document.js'

export interface OpenDelta {
  /** The name of the delta, for messages. */
  readonly name: string
  readonly encoding: 'xor' | 'overwrite' | 'tare'
  /** Absent in deltas of other programs. */
  readonly document?: DeltaDocument | undefined
  /** Packed bytes by their keys. */
  readonly entries: ReadonlyMap<string, Payload>
  readonly checksum: ChecksumName
  /** What is stated for the new bytes of a tensor, by its name. */
  readonly checksums: ReadonlyMap<string, string>
  readonly version?: string | undefined
  readonly baseVersion?: string | undefined
}

/** What `delta_encoding` says where the readers of the public form have to stop. */
export const ownEncoding = 'tare'

export function readDelta(model: Model): OpenDelta {
  const name = model.files[0]?.name ?? 'delta'
  const refuse = (message: string, path?: string): never =>
    failWith(deltaCodes['not-a-delta'], { file: name, ...(path !== undefined && { path }), message })
  if (model.format !== container.id)
    refuse(`a delta is a safetensors file or a directory with an index, not ${model.format}`)
  const texts = new Map(
    [...model.metadata].flatMap(([key, value]) => (value.type === 'str' ? [[key, value.value]] : [])),
  )
  const index = indexOf(model)
  const text = index?.[documentKey] ?? texts.get(documentKey)
  const document = typeof text === 'string' ? parseDocument(text, name) : undefined
  const encoding = index?.delta_encoding ?? (document ? ownEncoding : undefined)
  if (encoding === undefined)
    refuse(
      'nothing in its metadata says that it is a delta; where deltas are directories with an index, name the directory',
    )
  if (encoding !== 'xor' && encoding !== 'overwrite' && !(encoding === ownEncoding && document))
    refuse(`its encoding is ${shown(encoding)}; known are xor and overwrite`, 'metadata.delta_encoding')
  const compression = index?.compression_format ?? 'zstd'
  if (compression !== 'zstd')
    refuse(`it is packed with ${shown(compression)}, not with zstd`, 'metadata.compression_format')
  const checksum = document?.checksum ?? checksumNames.find((known) => known === index?.checksum_format)
  if (!checksum)
    return refuse(
      `its checksum is ${shown(index?.checksum_format)}; known are ${checksumNames.join(', ')}`,
      'metadata.checksum_format',
    )
  const entries = new Map(model.tensors.flatMap(({ name: key, data }) => (data ? [[key, data] as const] : [])))
  return {
    ...{ name, document, entries, checksum, checksums: texts },
    encoding: encoding as OpenDelta['encoding'],
    ...versionsOf(index),
  }
}

type Index = Readonly<Record<string, unknown>>

/** The metadata of the index, which reading keeps as a part. */
const indexOf = ({ parts }: Model): Index | undefined =>
  parts.find(({ kind }) => kind === 'safetensors.index-metadata')?.value as Index | undefined

const versionsOf = (index: Index | undefined): Pick<OpenDelta, 'version' | 'baseVersion'> => ({
  ...(typeof index?.version === 'string' && { version: index.version }),
  ...(typeof index?.base_version === 'string' && { baseVersion: index.base_version }),
})
