// What is known of a file beyond the model: its table of contents and where each tensor's bytes and hash are. It travels with the
// model as the content of one derived part, so that checking, verified reading and writing unchanged chunks need not read it again.

import type { ByteSource } from '../../bytes/index.js'
import { toHex } from '../../bytes/index.js'
import type { JsonValue, Metadata, Model, Part } from '../../model/index.js'
import type { Chunk } from './control/chunk.js'
import type { Control } from './control/control.js'
import type { JsonObject } from './index/manifest.js'
import type { TensorTable } from './index/tensor-table.js'
import { pagesName } from './structs.js'

export const containerKind = 'aero.container'
export const setKind = 'aeroset.container'
export const chunkKind = 'aero.chunk'
export const manifestKind = 'aero.manifest'
export const indexKind = 'aero.index'

export interface AeroFile {
  readonly source: ByteSource
  readonly control: Control
  readonly table: TensorTable
  readonly metadata: Metadata
  readonly metaJson: Chunk | undefined
  readonly manifest: Chunk | undefined
  readonly index: Chunk | undefined
  /** Chunks whose hash was compared while reading. */
  readonly checked: ReadonlySet<Chunk>
  /** Chunks that mean nothing to the model but travel with it. */
  readonly kept: readonly Chunk[]
  /** What manifest and index hold beyond what tare writes there by itself. */
  readonly extras: readonly Part[]
}

export const controlHashOf = ({ control }: AeroFile): Chunk | undefined =>
  control.chunks.find((chunk) => chunk.fourcc === 'IHSH')

const pageTables = new WeakMap<Control, ReadonlyMap<Chunk, Chunk>>()

/** The page tables by the shard that they belong to; the first of a name counts. */
export function pageTablesOf({ control }: AeroFile): ReadonlyMap<Chunk, Chunk> {
  const known = pageTables.get(control)
  if (known) return known
  const byName = new Map<string, Chunk>()
  for (const chunk of control.chunks) {
    if (chunk.fourcc === 'PHSH' && !byName.has(chunk.name)) byName.set(chunk.name, chunk)
  }
  const tables = new Map<Chunk, Chunk>()
  for (const shard of shardsOf(control).values()) {
    const table = byName.get(pagesName(shard.name))
    if (table) tables.set(shard, table)
  }
  pageTables.set(control, tables)
  return tables
}

/** The weight shards by name; the first of a name counts. */
export function shardsOf(control: Control): Map<string, Chunk> {
  const shards = new Map<string, Chunk>()
  for (const chunk of control.chunks) {
    if (chunk.fourcc === 'WTSH' && !shards.has(chunk.name)) shards.set(chunk.name, chunk)
  }
  return shards
}

/** The file that a model was read from; undefined for models from elsewhere. */
export function fileOf(model: Model): AeroFile | undefined {
  const part = model.parts.find((each) => each.kind === containerKind)
  return part?.content as AeroFile | undefined
}

const maxShown = 256

export function containerPart(file: AeroFile): Part {
  const { control } = file
  const shown = control.chunks.slice(0, maxShown).map(({ fourcc, name, flags, offset, length, ulen }) => ({
    fourcc,
    name,
    flags,
    offset,
    length,
    ulen,
  }))
  return {
    kind: containerKind,
    sharing: 'derived',
    value: { uuid: toHex(control.uuid), chunk_count: control.entryCount, chunks: shown as unknown as JsonValue },
    content: file,
  }
}

export const extraPart = (kind: string, extra: JsonObject): Part => ({ kind, sharing: 'private', value: extra })
