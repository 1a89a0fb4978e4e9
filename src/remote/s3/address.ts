// `s3://bucket/key`. A key is any text; slashes in it look like folders and are nothing but characters.
import { failWith } from '../../errors/index.js'
import { remoteCodes } from '../codes.js'

export interface S3Address {
  readonly bucket: string
  /** Without a slash in front. Empty, or with a slash at its end, it is a prefix. */
  readonly key: string
}

export const isS3Address = (text: string): boolean => /^s3:\/\//i.test(text)

export function parseS3Address(text: string): S3Address {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(text) ?? []
  const refuse = (message: string): never => failWith(remoteCodes['bad-address'], { file: text, message })
  if (!/^[a-z0-9][a-z0-9._-]{1,62}$/i.test(bucket))
    refuse('s3://BUCKET/KEY is wanted, and this has no name of a bucket')
  // Addresses on the web cannot name such keys: `..` leads up in them, however it is written.
  if (key.split('/').some((part) => part === '.' || part === '..')) refuse('a key with "." or ".." as a folder')
  return { bucket, key }
}

export const nameOfObject = ({ bucket, key }: S3Address): string => `s3://${bucket}/${key}`

/** A key as it stands in an address on the web. */
export const encodeKey = (key: string): string => key.split('/').map(encodeURIComponent).join('/')
