// Signs a model: every file with its digest, in a statement that others verify (OpenSSF Model Signing 1.0).
import { failWith, ioCodes } from '../../errors/index.js'
import { type HashType, type Manifest, statementOf } from '../../trust/index.js'
import { type HashFilesOptions, hashFiles } from './hash-files.js'
import { hashOfKey } from './keys.js'
import { gitPaths, listFiles } from './list-files.js'
import { nameOfModel } from './place.js'
import { checkCertificate, type SigningKey, signStatement } from './statement.js'
import { withTensorDigests } from './tensor-digests.js'

export interface SignOptions extends HashFilesOptions, SigningKey {
  readonly hash?: HashType | undefined
  readonly shardSize?: number | undefined
  readonly allowSymlinks?: boolean | undefined
  /** Paths below the model that are not part of it. */
  readonly ignorePaths?: readonly string[] | undefined
  /** Adds the digests of all tensors, so that a verifier can name those that changed. */
  readonly tensors?: boolean | undefined
}

/** A signature, and what it covers. */
export interface SignResult {
  /** The signature, as a file. */
  readonly text: string
  readonly files: number
  readonly bytes: number
  /** How the signature names the signer: the hint of the key, or the subject of the certificate. */
  readonly signer: string
}

/** Signs a file, or all files of a directory or at an address. The signature is returned, not written. */
export async function signModel(model: string, options: SignOptions): Promise<SignResult> {
  const { key, certificates, hash = 'sha256', shardSize, allowSymlinks = false } = options
  // Before a large model is read.
  hashOfKey(key, 'key')
  if (certificates?.[0]) checkCertificate(certificates[0], key)
  const ignorePaths = [...new Set([...(options.ignorePaths ?? []), ...gitPaths])]
  const files = await listFiles(model, { allowSymlinks, ignorePaths, remote: options.remote })
  if (files.length === 0)
    failWith(ioCodes['empty-directory'], { file: model, message: 'there is no file in it to sign' })
  const serialization = { hash, shardSize, allowSymlinks, ignorePaths: files[0]!.name === '.' ? [] : ignorePaths }
  const hashed = await hashFiles(files, serialization, options)
  const resources = options.tensors ? await withTensorDigests(hashed.resources, files, options) : hashed.resources
  const manifest: Manifest = { name: await nameOfModel(model), serialization, resources }
  const signed = signStatement(await statementOf(manifest), options)
  return { ...signed, files: files.length, bytes: hashed.bytes }
}
