// Objects as outputs.
import { failWith, ioCodes } from '../../errors/index.js'
import { parseS3Address } from '../../remote/s3/address.js'
import { S3Sink, type S3SinkOptions } from '../../remote/s3/sink.js'
import { trackUpload } from '../unfinished.js'
import { clientFor } from './open-s3.js'
import { uploadLedger } from './upload-ledger.js'

export async function openS3Output(address: string, options: S3SinkOptions): Promise<S3Sink> {
  const place = parseS3Address(address)
  const { key } = place
  if (key === '' || key.endsWith('/')) failWith(ioCodes['not-a-file'], { file: address, message: 'this is a prefix' })
  const client = await clientFor(place)
  const sink = await S3Sink.open(client, key, { ...options, ledger: uploadLedger(client.store) })
  trackUpload(sink)
  return sink
}
