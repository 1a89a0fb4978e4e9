// The HDF5 file that holds the weights, by itself or inside an archive.
import { type ByteSource, defaultWindow } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import type { CheckContext, ReadContext } from '../../model/index.js'
import { hdf5Codes } from '../../wire/hdf5/codes.js'
import { type Hdf5Context, Hdf5File } from '../../wire/hdf5/file.js'
import { walkHdf5 } from '../../wire/hdf5/walk.js'
import { Contents } from './contents.js'

export interface Weights {
  readonly contents: Contents
  /** Of the file's superblock. */
  readonly version: string
}

export async function readWeights(
  source: ByteSource,
  context: ReadContext,
  within?: Hdf5Context['within'],
): Promise<Weights> {
  const { report, extents, signal, limits, onLost } = context
  const contents = new Contents(source, context)
  const file = new Hdf5File(source, {
    report,
    extents,
    signal,
    maxIndex: limits.indexBytes,
    maxDepth: limits.depth,
    within,
    onLost: onLost && ((name, reason) => onLost({ subject: 'tensor', name, reason })),
  })
  const version = await walkHdf5(file, contents)
  return { contents, version: String(version) }
}

/** Unpacks what is packed: deflate has a checksum of its own, and other filters may have added one. */
export async function checkPacked({ packed }: Contents, context: CheckContext): Promise<void> {
  const { report, signal, only } = context
  for (const { tensor, stored } of packed) {
    if (only && !only.has(tensor.name)) continue
    try {
      for await (const piece of stored.chunks(defaultWindow, signal)) context.checked(piece.byteLength)
    } catch (error) {
      if (!(error instanceof TareError) || error.code !== hdf5Codes['chunk-data'].code) throw error
      report.report(hdf5Codes['chunk-data'], error.finding)
    }
  }
}
