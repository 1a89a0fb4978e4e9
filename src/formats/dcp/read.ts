// PyTorch writes a checkpoint of a model that is spread over many machines as a directory: each rank writes its chunks of the tensors into
// files of its own (`__RANK_N.distcp`), and `.metadata` says what there is and where. Read, it is one model again, whose tensors are put
// together from their chunks while they are read.
import type { ByteSource } from '../../bytes/index.js'
import { type Code, type Details, isSystemFailure, type Report, TareError, verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model, Opened, ReadContext, Tensor } from '../../model/index.js'
import { mosaicPayload } from '../../payloads/mosaic-payload.js'
import { differs, StoredChunk } from './chunks.js'
import { codes } from './codes.js'
import { findFlaw } from './cover.js'
import { isPart } from './detect.js'
import { openItem, type PlacedItem, type PlacedItems, pathOf, placeItems, shifted } from './items.js'
import { type Checkpoint, chunkKey, readMetadata, type StatedTensor } from './metadata.js'
import { readObjects } from './objects.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { report, signal } = context
  if (isPart(await source.read(0, Math.min(source.size, 64), { signal }), source.name)) {
    const message = 'this file holds chunks of tensors; which ones, and where, is in .metadata beside it'
    report.fail(codes['part-alone'], { offset: 0, path: 'file', message })
  }
  const checkpoint = await readMetadata(source, context)
  const placed = await placeItems(source, checkpoint.items, context)
  const tensors: Tensor[] = []
  /** What each item that belongs to a tensor must be. */
  const chunks = new Map<PlacedItem, ChunkOf>()
  for (const stated of checkpoint.tensors) {
    const tensor = assemble(stated, placed, chunks, context)
    if (tensor) tensors.push(tensor)
  }
  const objects = await readObjects(checkpoint.objects, placed, context)
  noteUnused(checkpoint, placed, report)
  const model: Model = {
    format: 'dcp',
    version: checkpoint.version,
    metadata: objects.metadata,
    tensors: [...tensors, ...objects.tensors],
    parts: [],
    files: [source, ...placed.files],
  }
  return { model, check: (checking) => checkItems(placed.items, chunks, checking) }
}

interface ChunkOf {
  readonly tensor: StatedTensor
  readonly sizes: readonly number[]
}

/** Undefined if a chunk is missing or the chunks do not cover the tensor; both are reported. */
function assemble(
  stated: StatedTensor,
  placed: PlacedItems,
  chunks: Map<PlacedItem, ChunkOf>,
  context: ReadContext,
): Tensor | undefined {
  const { name, dtype, shape, role, offset } = stated
  const { report, onLost } = context
  const lost = (code: 'chunk-hole' | 'chunk-overlap' | 'item-missing', message: string): undefined => {
    onLost?.({ subject: 'tensor', name, reason: message })
    report.report(codes[code], { offset, path: `state_dict_metadata[${JSON.stringify(name)}]`, message })
  }
  // Ranks without rows of a small tensor may list chunks without elements.
  const full = stated.chunks.filter(({ sizes }) => !sizes.includes(0))
  const flaw = findFlaw(shape, full)
  if (flaw) return lost(flaw.code, flaw.message)
  const tiles: StoredChunk[] = []
  for (const tile of stated.chunks) {
    const at = chunkKey(tile.offsets)
    const item = placed.find(name, at)
    if (item) {
      chunks.set(item, { tensor: stated, sizes: tile.sizes })
      tiles.push(new StoredChunk(tile, stated, item, context))
    } else if (!tile.sizes.includes(0)) {
      if (!placed.isListed(name, at)) return lost('item-missing', `the place of the chunk at [${at}] is not listed`)
      onLost?.({ subject: 'tensor', name, reason: `the chunk at [${at}] is not there in full` })
      return undefined // reported with its file
    }
  }
  const data = mosaicPayload(name, shape, dtype.group.bytes, tiles)
  return { name, dtype, shape, order: 'row', role, data }
}

function noteUnused({ tensors, objects }: Checkpoint, { items }: PlacedItems, report: Report): void {
  const described = new Map<string, ReadonlySet<string | undefined>>()
  for (const { name, chunks } of tensors) described.set(name, new Set(chunks.map(({ offsets }) => chunkKey(offsets))))
  for (const { name } of objects) described.set(name, new Set([undefined]))
  const unused = items.filter(({ name, at }) => !described.get(name)?.has(at))
  const [first] = unused
  if (!first) return
  const message = `nothing describes ${pathOf(first)}${unused.length > 1 ? ` and ${unused.length - 1} more` : ''}`
  report.report(codes['item-unused'], { offset: first.offset, path: 'storage_data', message })
}

/** Compares what is stored with .metadata, and the checksums of every archive with its bytes. */
async function checkItems(
  items: readonly PlacedItem[],
  chunks: ReadonlyMap<PlacedItem, ChunkOf>,
  context: CheckContext,
): Promise<void> {
  const report = sayingOnce(context.report, verifyCodes['no-checksums'])
  for (const item of items) {
    if (context.only && item.at !== undefined && !context.only.has(item.name)) continue
    const own = { ...context, report: shifted(report, item), extents: undefined, onLost: undefined }
    try {
      const { model, check } = await openItem(item, own, report)
      const chunk = chunks.get(item)
      const problem = chunk && differs(model.tensors, chunk.tensor, chunk.sizes)
      if (problem !== undefined) {
        const place = { file: item.source.name, offset: item.start, length: item.length, path: pathOf(item) }
        report.report(codes['chunk-tensor'], { ...place, message: problem })
      }
      await check?.(own)
    } catch (error) {
      // One archive that cannot be read was reported; the others are compared as well.
      if (report.strict || !(error instanceof TareError) || isSystemFailure(error)) throw error
    }
  }
}

/** The same report, which is told about one code only once. */
function sayingOnce(report: Report, code: Code, said = { done: false }): Report {
  return {
    ...report,
    report(given: Code, details: Details) {
      if (given === code && said.done) return
      if (given === code) said.done = true
      report.report(given, details)
    },
    forFile: (file) => sayingOnce(report.forFile(file), code, said),
  }
}
