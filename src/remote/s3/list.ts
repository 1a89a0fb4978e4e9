// The objects below a prefix.
import { failWith } from '../../errors/index.js'
import { remoteCodes } from '../codes.js'
import { decodeKey, elementsOf, textOf } from './answers.js'
import type { S3Client } from './client.js'

export interface ListedObject {
  readonly key: string
  readonly size: number
  readonly etag: string | undefined
}

export interface Listing {
  readonly objects: readonly ListedObject[]
  /** Prefixes one level down, with a slash at their ends. */
  readonly folders: readonly string[]
}

/** No model has nearly as many files. */
const maxObjects = 200_000

/** One level of a prefix as a folder, or everything below it with `deep`. */
export async function listObjects(
  client: S3Client,
  prefix: string,
  {
    deep = false,
    signal = new AbortController().signal,
  }: { readonly deep?: boolean; readonly signal?: AbortSignal | undefined } = {},
): Promise<Listing> {
  const objects: ListedObject[] = []
  const folders: string[] = []
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query: Record<string, string> = {
      'list-type': '2',
      prefix,
      'encoding-type': 'url',
      ...(deep ? {} : { delimiter: '/' }),
      ...(token === '' ? {} : { 'continuation-token': token }),
    }
    const { text } = await client.request({ method: 'GET', key: '', query }, signal)
    for (const entry of elementsOf(text, 'Contents')) {
      const key = decodeKey(textOf(entry, 'Key') ?? '')
      const size = Number(textOf(entry, 'Size'))
      // An object that is called like a folder marks an empty folder.
      if (key.startsWith(prefix) && !key.endsWith('/') && Number.isSafeInteger(size))
        objects.push({ key, size, etag: textOf(entry, 'ETag') })
    }
    for (const entry of elementsOf(text, 'CommonPrefixes')) folders.push(decodeKey(textOf(entry, 'Prefix') ?? ''))
    const next: string | undefined =
      textOf(text, 'IsTruncated') === 'true' ? textOf(text, 'NextContinuationToken') : undefined
    if (objects.length > maxObjects || (next !== undefined && next === token)) {
      const message = `it has more than ${Math.min(objects.length, maxObjects)} objects, or its list never ends`
      failWith(remoteCodes['too-large'], { file: client.nameOfKey(prefix), message })
    }
    token = next
  }
  return { objects, folders }
}
