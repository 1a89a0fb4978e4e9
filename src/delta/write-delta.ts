// The files of a delta: one safetensors file with everything in it, or the directory that slime and ModelExpress read, with an index.
import { encodeUtf8 } from '../bytes/index.js'
import { dtypes } from '../dtypes/index.js'
import type { FileLayout, Layout, Model, Tensor } from '../model/index.js'
import { text } from '../model/index.js'
import { container } from './container.js'
import { documentKey, documentText } from './document.js'
import type { DeltaEntry, MadeDelta } from './pack.js'
import { ownEncoding } from './read-delta.js'

/** What the index of the public form states. */
export interface DeltaVersions {
  readonly version: string
  readonly base: string
}

/** One file. */
export async function layoutDelta(made: MadeDelta, name: string): Promise<Layout> {
  const metadata = new Map([...checksumsOf(made.entries), [documentKey, text(documentText(made.document))] as const])
  return { files: [await shard(made.entries, metadata, name)] }
}

export const indexName = 'model.safetensors.index.json'
const shardName = 'model-00000-of-00001.safetensors'

/** The public form. Where its readers could not apply the delta, the encoding has a name that they refuse before they change anything. */
export async function layoutPublicDelta(made: MadeDelta, { version, base }: DeltaVersions): Promise<Layout> {
  const { entries, document, beyondPublic } = made
  const metadata = {
    ...{ version, base_version: base },
    delta_encoding: beyondPublic.length === 0 ? 'xor' : ownEncoding,
    compression_format: 'zstd',
    checksum_format: document.checksum,
    [documentKey]: documentText(document),
  }
  // Built by hand: an object would lose or misuse names such as `__proto__`.
  const places = entries.map(({ key }) => `${JSON.stringify(key)}: ${JSON.stringify(shardName)}`)
  const index = `{"metadata": ${JSON.stringify(metadata)}, "weight_map": {${places.join(', ')}}}\n`
  const files: FileLayout[] = [{ name: indexName, slots: [{ kind: 'bytes', path: 'index', bytes: encodeUtf8(index) }] }]
  if (entries.length > 0) files.push(await shard(entries, checksumsOf(entries), shardName))
  return { files }
}

const checksumsOf = (entries: readonly DeltaEntry[]): Model['metadata'] =>
  new Map(entries.flatMap(({ key, checksum }) => (checksum === undefined ? [] : [[key, text(checksum)] as const])))

async function shard(entries: readonly DeltaEntry[], metadata: Model['metadata'], name: string): Promise<FileLayout> {
  const tensors = entries.map(
    ({ key, payload }): Tensor => ({
      ...{
        name: key,
        dtype: dtypes.get('u8')!,
        shape: [payload.byteLength],
        order: 'row',
        role: 'weight',
        data: payload,
      },
    }),
  )
  const { layout } = await container.load()
  const { files } = await layout!({ format: container.id, metadata, tensors, parts: [], files: [] }, { name })
  return files[0]!
}
