// `s3://bucket/key`, and `gs://bucket/key` for the store of Google. A key is any text; slashes in it look like folders and are nothing but
// characters.
import { failWith } from '../../errors/index.js'
import { remoteCodes } from '../codes.js'

/** Which store is meant: the one that the settings for S3 name, or Google's. */
export type StoreScheme = 's3' | 'gs'

export interface S3Address {
  readonly scheme: StoreScheme
  readonly bucket: string
  /** Without a slash in front. Empty, or with a slash at its end, it is a prefix. */
  readonly key: string
}

export const isS3Address = (text: string): boolean => /^(?:s3|gs):\/\//i.test(text)

export function parseS3Address(text: string): S3Address {
  const [, name, bucket = '', key = ''] = /^(s3|gs):\/\/([^/]*)(?:\/(.*))?$/is.exec(text) ?? []
  const scheme = name?.toLowerCase() === 'gs' ? 'gs' : 's3'
  const refuse = (message: string): never => failWith(remoteCodes['bad-address'], { file: text, message })
  if (!/^[a-z0-9][a-z0-9._-]{1,62}$/i.test(bucket))
    refuse(`${scheme}://BUCKET/KEY is wanted, and this has no name of a bucket`)
  // Addresses on the web cannot name such keys: `..` leads up in them, however it is written.
  if (key.split('/').some((part) => part === '.' || part === '..')) refuse('a key with "." or ".." as a folder')
  return { scheme, bucket, key }
}

export const nameOfObject = ({ scheme, bucket, key }: S3Address): string => `${scheme}://${bucket}/${key}`

/** A key as it stands in an address on the web. */
export const encodeKey = (key: string): string => key.split('/').map(encodeURIComponent).join('/')
