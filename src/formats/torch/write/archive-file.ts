// An archive as PyTorch 2.13 lays it out: the pickle, what says how storages lie, the storages in the order of their numbers, the version and
// an id. Each record starts on a multiple of the alignment.
import { encodeUtf8 } from '../../../bytes/index.js'
import { metadataRecord } from '../../../content/torch-save/metadata-record.js'
import { createHasher } from '../../../digest/index.js'
import { type FileLayout, type Slot, slotsMadeBy } from '../../../model/index.js'
import type { NewMembers, ZipPiece } from '../../../wire/zip/write.js'
import { layOutStreamed } from '../../../wire/zip/write-streamed.js'
import type { NewStorage } from './storages.js'

export interface NewArchive {
  readonly name: string
  /** The top folder. */
  readonly root: string
  readonly alignment: number
  readonly pickle: Uint8Array
  readonly storages: readonly NewStorage[]
  /** The record with metadata, where there are any. */
  readonly metadata?: Uint8Array | undefined
  /** Checksums of storages that are taken over need not be computed again. */
  readonly trustsSums?: boolean
}

interface Record {
  readonly name: string
  readonly bytes: Uint8Array
}

export async function archiveFile(archive: NewArchive): Promise<FileLayout> {
  const { name, root, alignment, pickle, storages } = archive
  const before: Record[] = [
    { name: 'data.pkl', bytes: pickle },
    { name: '.format_version', bytes: encodeUtf8('1') },
    { name: '.storage_alignment', bytes: encodeUtf8(String(alignment)) },
    { name: 'byteorder', bytes: encodeUtf8('little') },
  ]
  const after: Record[] = [
    ...(archive.metadata ? [{ name: metadataRecord, bytes: archive.metadata }] : []),
    { name: 'version', bytes: encodeUtf8('3\n') },
    { name: '.data/serialization_id', bytes: encodeUtf8(await serializationId(pickle)) },
  ]
  const storageAt = (i: number): NewStorage | undefined => storages[i - before.length]
  const recordAt = (i: number): Record => before[i] ?? after[i - before.length - storages.length]!
  const members: NewMembers = {
    count: before.length + storages.length + after.length,
    nameAt: (i) => `${root}/${storageAt(i) ? `data/${i - before.length}` : recordAt(i).name}`,
    sizeAt: (i) => storageAt(i)?.payload.byteLength ?? recordAt(i).bytes.byteLength,
  }
  const zip = layOutStreamed(members, alignment)
  const sums = new Map<number, number>()
  if (archive.trustsSums) {
    for (const [i, { crc32 }] of storages.entries())
      if (crc32 !== undefined) sums.set(zip.dataOffset(before.length + i), crc32)
  }
  const slotOf = (piece: ZipPiece): Slot => slotFor(piece, sums)
  const slots = slotsMadeBy(function* () {
    for (let i = 0; i < members.count; i++) {
      const path = `members[${JSON.stringify(members.nameAt(i))}].data`
      const storage = storageAt(i)
      yield slotOf(zip.head(i))
      if (storage) yield { kind: 'payload', path, payload: storage.payload }
      else yield { kind: 'bytes', path, bytes: recordAt(i).bytes }
      for (const piece of zip.foot(i)) yield slotOf(piece)
    }
    for (const piece of zip.tail()) yield slotOf(piece)
  })
  return { name, slots }
}

function slotFor(piece: ZipPiece, sums: ReadonlyMap<number, number>): Slot {
  if (piece.kind === 'bytes') return piece
  const { path, covers } = piece
  const known = sums.get(covers[0])
  if (known === undefined)
    return { kind: 'digest', path, algorithm: 'crc32', length: 4, covers: [covers], encode: reversed }
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, known, true)
  return { kind: 'bytes', path, bytes }
}

const reversed = (digest: Uint8Array): Uint8Array => digest.toReversed()

/**
 * Two numbers of twenty digits, which PyTorch only logs. Its own are made of hashes that depend on its compiler; these follow from the pickle,
 * so the same model has the same id.
 */
async function serializationId(pickle: Uint8Array): Promise<string> {
  const hasher = await createHasher('sha256')
  hasher.update(pickle)
  const digest = hasher.digest()
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength)
  return [0, 8].map((at) => view.getBigUint64(at).toString().padStart(20, '0')).join('')
}
