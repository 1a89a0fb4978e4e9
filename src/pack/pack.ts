// Turns a description into a model, which any suitable format can then write.
import { type ByteSource, MemorySource } from '../bytes/index.js'
import { failWith, ioCodes } from '../errors/index.js'
import type { JsonValue, MetaValue, Model, Part, Tensor } from '../model/index.js'
import type { ModelDescription } from './description.js'
import { type Field, knownMembers, membersOf } from './field.js'
import { type MetadataContext, packMetadata } from './metadata.js'
import { readSizeVariables, type SizeVariables } from './shape.js'
import { packTensor } from './tensors.js'

export interface PackOptions {
  /** The name of the description in errors. */
  readonly name?: string | undefined
  /** Opens a data file that the description names. Absent: a description cannot name files. */
  readonly readFile?: ((name: string) => Promise<ByteSource | Uint8Array>) | undefined
  /** The file that contains the description; it becomes the first file of the model. */
  readonly source?: ByteSource | undefined
  readonly signal?: AbortSignal | undefined
}

/** The top-level fields of a description. */
export const sections = ['sizevars', 'metadata', 'tensors'] as const

/**
 * The model that a description describes. Everything is checked here except values in files, which are checked as they are read. The data
 * files stay open until `closeModel`.
 */
export async function packModel(description: ModelDescription, options: PackOptions = {}): Promise<Model> {
  const file = options.name ?? options.source?.name ?? 'description'
  const root: Field = { value: description, path: '', file }
  const opened = new Map<string, Promise<ByteSource>>()
  try {
    const fields = knownMembers(root, ['$schema', ...sections], 'an object with sizevars, metadata and tensors')
    const sizes = readSizeVariables(fields.get('sizevars'))
    const context: MetadataContext = {
      sizes,
      signal: options.signal,
      openFile: (name) => openOnce(name, opened, options),
    }
    const metadata = new Map<string, MetaValue>()
    for (const [key, field] of entriesOf(fields.get('metadata')))
      metadata.set(key, await packMetadata(key, field, context))
    const tensors: Tensor[] = []
    for (const [name, field] of entriesOf(fields.get('tensors'))) tensors.push(await packTensor(name, field, context))
    const files = [...(options.source ? [options.source] : []), ...(await Promise.all(opened.values()))]
    return { format: 'description', metadata, tensors, parts: partsOf(sizes), files }
  } catch (error) {
    for (const each of await Promise.allSettled(opened.values()))
      if (each.status === 'fulfilled') await each.value.close()
    throw error
  }
}

const entriesOf = (field: Field | undefined): ReadonlyMap<string, Field> => (field ? membersOf(field) : new Map())

function openOnce(name: string, opened: Map<string, Promise<ByteSource>>, options: PackOptions): Promise<ByteSource> {
  const known = opened.get(name)
  if (known) return known
  const opening = openFile(name, options)
  opened.set(name, opening)
  return opening
}

async function openFile(name: string, { readFile }: PackOptions): Promise<ByteSource> {
  if (!readFile) failWith(ioCodes['not-found'], { file: name, message: 'files cannot be opened here' })
  const found = await readFile(name)
  return found instanceof Uint8Array ? new MemorySource(found, name) : found
}

function partsOf(sizes: SizeVariables): Part[] {
  if (sizes.size === 0) return []
  const shown = [...sizes].map(([name, size]): [string, JsonValue] => {
    return [name, size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : size.toString()]
  })
  return [{ kind: 'size-variables', sharing: 'shared', value: Object.fromEntries(shown), content: sizes }]
}
