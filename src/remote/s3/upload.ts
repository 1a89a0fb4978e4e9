// The operations of a multipart upload. Doing any of them twice is the same as doing it once, so each is tried again when it fails in a way
// that may pass. Bodies are sent with their digest, which the store compares: no part arrives damaged.
import { failWith } from '../../errors/index.js'
import { remoteCodes } from '../codes.js'
import { encodeKey } from './address.js'
import { elementsOf, escapeXml, textOf } from './answers.js'
import type { S3Client, S3Request } from './client.js'
import { headObject } from './object.js'
import type { CopyRange } from './parts.js'

/** A part that the store has. */
export interface StoredPart {
  readonly number: number
  readonly etag: string
  readonly size: number
}

const onlyNew = { 'if-none-match': '*' }

export async function createUpload(client: S3Client, key: string, signal: AbortSignal): Promise<string> {
  const { text } = await client.request({ method: 'POST', key, query: { uploads: '' } }, signal)
  return textOf(text, 'UploadId') ?? refuse(client, key, 'the store started no upload')
}

export async function uploadPart(
  client: S3Client,
  key: string,
  upload: string,
  number: number,
  body: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<string> {
  const query = { partNumber: String(number), uploadId: upload }
  const { headers } = await client.request(await withBody(client, { method: 'PUT', key, query }, body), signal)
  return headers.get('etag') ?? refuse(client, key, `the store did not confirm part ${number}`)
}

/** The store copies the part from another object. */
export async function copyPart(
  client: S3Client,
  key: string,
  upload: string,
  number: number,
  { object, offset }: CopyRange,
  length: number,
  signal: AbortSignal,
): Promise<string> {
  const headers = {
    'x-amz-copy-source': `/${object.bucket}/${encodeKey(object.key)}`,
    'x-amz-copy-source-range': `bytes=${offset}-${offset + length - 1}`,
    // Some stores ignore it, so the object is looked at again before the upload is completed.
    'x-amz-copy-source-if-match': object.etag,
  }
  const query = { partNumber: String(number), uploadId: upload }
  const timeout = client.timeoutFor({ copies: true })
  const answer = await client.request({ method: 'PUT', key, query, headers, timeout }, signal, [412])
  if (answer.status === 412)
    failWith(remoteCodes.changed, {
      file: client.forBucket(object.bucket).nameOfKey(object.key),
      message: 'it changed while it was copied',
    })
  return textOf(answer.text, 'ETag') ?? refuse(client, key, `the store did not confirm the copy of part ${number}`)
}

/** The parts that an upload has; undefined if there is no such upload any more. */
export async function listParts(
  client: S3Client,
  key: string,
  upload: string,
  signal: AbortSignal,
): Promise<StoredPart[] | undefined> {
  const parts: StoredPart[] = []
  for (let marker = '0'; ; ) {
    const query = { uploadId: upload, 'part-number-marker': marker }
    const { status, text } = await client.request({ method: 'GET', key, query }, signal, [404])
    if (status === 404) return undefined
    for (const entry of elementsOf(text, 'Part')) {
      const [number, size] = [Number(textOf(entry, 'PartNumber')), Number(textOf(entry, 'Size'))]
      const etag = textOf(entry, 'ETag')
      if (number > 0 && size >= 0 && etag !== undefined) parts.push({ number, size, etag })
    }
    const next = textOf(text, 'NextPartNumberMarker')
    if (textOf(text, 'IsTruncated') !== 'true' || next === undefined || Number(next) <= Number(marker)) return parts
    marker = next
  }
}

export interface Completion {
  /** In order. */
  readonly etags: readonly string[]
  readonly size: number
  /** An object that is there is not replaced, as far as the store keeps to that. */
  readonly isNew: boolean
}

/** Makes the object visible. False: another object is there, and must not be replaced. */
export async function completeUpload(
  client: S3Client,
  key: string,
  upload: string,
  { etags, size, isNew }: Completion,
  signal: AbortSignal,
): Promise<boolean> {
  const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`)
  const xml = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
  const body = new TextEncoder().encode(xml) as Uint8Array<ArrayBuffer>
  const headers: Record<string, string> = isNew && !client.isGoogle ? onlyNew : {}
  const timeout = client.timeoutFor({ copies: true })
  const request = { method: 'POST', key, query: { uploadId: upload }, headers, timeout } as const
  const { status } = await client.request(await withBody(client, request, body), signal, [404, 412])
  if (status === 412) return false
  if (status !== 404) return true
  // An answer that was lost: the upload is gone because it is complete.
  const there = await headObject(client, key, signal)
  const isDone = there?.size === size && there.etag?.includes(`-${etags.length}`)
  return isDone ? true : refuse(client, key, 'the upload is gone, and the object is not there')
}

/** An upload that is gone already is fine. */
export async function abortUpload(client: S3Client, key: string, upload: string, signal: AbortSignal): Promise<void> {
  await client.request({ method: 'DELETE', key, query: { uploadId: upload } }, signal, [404])
}

/** A small object in one request. False: another object is there, and must not be replaced. */
export async function putObject(
  client: S3Client,
  key: string,
  body: Uint8Array<ArrayBuffer>,
  isNew: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const request: S3Request = { method: 'PUT', key, headers: isNew && !client.isGoogle ? onlyNew : {} }
  const { status } = await client.request(await withBody(client, request, body), signal, [412])
  return status !== 412
}

async function withBody(client: S3Client, request: S3Request, body: Uint8Array<ArrayBuffer>): Promise<S3Request> {
  const hash = await client.digestOf(body)
  const timeout = Math.max(request.timeout ?? 0, client.timeoutFor({ bytes: body.byteLength }))
  return { ...request, headers: { ...request.headers, 'x-amz-content-sha256': hash }, body, timeout }
}

function refuse(client: S3Client, key: string, message: string): never {
  return failWith(remoteCodes['bad-answer'], { file: client.nameOfKey(key), message })
}
