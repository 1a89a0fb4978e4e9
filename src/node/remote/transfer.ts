import type { Transfer } from '../../bytes/index.js'
import type { Layout } from '../../model/index.js'
import { isLateDigest, piecesOf } from '../../writing/layout-source.js'

/** What writing a layout to an address would move; undefined for everything but an address of a store. */
export async function transferTo(output: string, { files }: Layout): Promise<Transfer | undefined> {
  if (!/^(?:s3|gs):/i.test(output)) return undefined
  const { parseS3Address } = await import('../../remote/s3/address.js')
  const { cutParts, runsOf, transferOf } = await import('../../remote/s3/parts.js')
  const { clientFor } = await import('./open-s3.js')
  const { store } = await clientFor(parseS3Address(output))
  let [copied, uploaded] = [0, 0]
  for (const file of files) {
    const parts = cutParts(await runsOf(piecesOf(file, isLateDigest), store)) ?? []
    const transfer = transferOf(parts)
    copied += transfer.copied
    uploaded += transfer.uploaded
  }
  return { copied, uploaded }
}
