// Objects and prefixes of object stores as inputs. A prefix is looked at like a directory.
import { type ByteSource, checkAborted, type OpenHint } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import { formats } from '../../formats/index.js'
import { mainFileIn } from '../../formats/main-file.js'
import { StatusError } from '../../remote/request.js'
import { nameOfObject, parseS3Address, type S3Address } from '../../remote/s3/address.js'
import { S3Client } from '../../remote/s3/client.js'
import { listObjects } from '../../remote/s3/list.js'
import { openObject } from '../../remote/s3/object.js'
import { guardFor, type RemoteOptions, storeFor } from './open-remote.js'
import { s3Settings } from './s3-settings.js'

/** Opens an object, or the model below a prefix. */
export async function openS3(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  const place = parseS3Address(address)
  const client = await clientFor(place.bucket)
  if (place.key === '' || place.key.endsWith('/')) return openPrefix(client, place, options)
  try {
    return await openObject(client, place.key, storeFor(options), { hint })
  } catch (error) {
    // It may be the name of a folder.
    if (!isMissing(error)) throw error
    checkAborted(options.signal, address)
    const folder = { ...place, key: `${place.key}/` }
    const { objects } = await listObjects(client, folder.key, options).catch(() => ({ objects: [] }))
    if (objects.length === 0) throw error
    return openPrefix(client, folder, options)
  }
}

/** The store that the environment names. */
export async function clientFor(bucket: string): Promise<S3Client> {
  const settings = await s3Settings()
  const first = new S3Client(bucket, settings).urlOf('')
  return new S3Client(bucket, { ...settings, ...guardFor(first) })
}

const isMissing = (error: unknown): boolean =>
  error instanceof TareError && error.cause instanceof StatusError && error.cause.status === 404

async function openPrefix(
  client: S3Client,
  { bucket, key: prefix }: S3Address,
  options: RemoteOptions,
): Promise<ByteSource> {
  const { objects } = await listObjects(client, prefix, options)
  const files = objects
    .map(({ key }) => key.slice(prefix.length))
    .filter((name) => !name.startsWith('.'))
    .sort()
  const main = mainFileIn(nameOfObject({ bucket, key: prefix }), files, formats, options.onFinding)
  const name = prefix.split('/').at(-2) || bucket
  return openObject(client, prefix + main, storeFor(options), { folder: { name, files, isWhole: true } })
}
