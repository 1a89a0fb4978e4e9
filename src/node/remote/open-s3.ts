// Objects and prefixes of the object store that the environment names.
import { createHash } from 'node:crypto'
import { openFromBucket } from '../../api/stores.js'
import type { ByteSource, OpenHint } from '../../bytes/index.js'
import { parseS3Address, type S3Address } from '../../remote/s3/address.js'
import { S3Client, type S3Options } from '../../remote/s3/client.js'
import { guardFor, type RemoteOptions, storeFor } from './open-remote.js'
import { googleSettings, s3Settings } from './s3-settings.js'

/** Opens an object, or the model below a prefix. */
export async function openS3(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  const place = parseS3Address(address)
  return openFromBucket(await clientFor(place, options.s3), place.key, storeFor(options), hint)
}

export async function clientFor(
  { scheme, bucket }: Pick<S3Address, 'scheme' | 'bucket'>,
  given?: S3Options,
): Promise<S3Client> {
  const settings = { ...(given ?? (await (scheme === 'gs' ? googleSettings() : s3Settings()))), scheme }
  const first = new S3Client(bucket, settings).urlOf('')
  return new S3Client(bucket, { sha256, ...settings, ...guardFor(first) })
}

/** Without the copies that the platform's own digest makes. */
const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
