// An object as a byte source: a file on an HTTP server whose requests are signed, with the other objects of the bucket around it.
import type { ByteSource, OpenHint, SourceFolder, StoredObject } from '../../bytes/index.js'
import { failWith } from '../../errors/index.js'
import { withSurroundings } from '../beside.js'
import { remoteCodes } from '../codes.js'
import { type HttpOptions, HttpSource } from '../http-source.js'
import { isS3Address, nameOfObject, parseS3Address } from './address.js'
import type { S3Client } from './client.js'

export type ObjectOptions = Omit<HttpOptions, 'headers' | 'fetch' | 'nameOf'>

/** Opens an object. All bytes belong to one version of it. */
export async function openObject(
  client: S3Client,
  key: string,
  options: ObjectOptions = {},
  { hint, folder }: { readonly hint?: OpenHint | undefined; readonly folder?: SourceFolder | undefined } = {},
): Promise<ByteSource> {
  const { bucket, store } = client
  const source = await HttpSource.open(client.urlOf(key).href, { ...options, ...client.settings }, hint)
  const name = client.nameOfKey(key)
  const { etag } = source
  const open = (other: string, hint?: OpenHint) => openObject(client, other, options, { hint })
  return withSurroundings(source, {
    name,
    path: key,
    folder,
    stored: etag === undefined || client.isGoogle ? undefined : { store, bucket, key, etag },
    open,
    async openNamed(address, hint) {
      if (!isS3Address(address)) return undefined
      const other = parseS3Address(address)
      return client.nameOfKey(other.key) === nameOfObject(other) ? open(other.key, hint) : undefined
    },
  })
}

export interface ObjectHead {
  readonly size: number
  readonly etag: string | undefined
}

/** Undefined if there is no such object. */
export async function headObject(
  client: S3Client,
  key: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<ObjectHead | undefined> {
  const { status, headers } = await client.request({ method: 'HEAD', key }, signal, [404])
  if (status === 404) return undefined
  return { size: Number(headers.get('content-length')), etag: headers.get('etag') ?? undefined }
}

/** Throws if the object is no longer the version that was opened. */
export async function assertSameObject(
  client: S3Client,
  { bucket, key, etag }: StoredObject,
  signal?: AbortSignal,
): Promise<void> {
  const now = await headObject(client, key, signal)
  if (now?.etag === etag) return
  const message = now ? 'its version is another one now' : 'it was removed'
  failWith(remoteCodes.changed, { file: client.forBucket(bucket).nameOfKey(key), message })
}
