// Signs a model: every file with its digest, in a statement that others verify (OpenSSF Model Signing 1.0).
import { createPublicKey, type KeyObject, sign, type X509Certificate } from 'node:crypto'
import { basename, resolve } from 'node:path'
import { encodeUtf8 } from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import {
  bundleText,
  type HashType,
  type Manifest,
  signatureCodes,
  signedBytes,
  statementOf,
} from '../../trust/index.js'
import { checkUsage, named } from './certificates.js'
import { type HashFilesOptions, hashFiles } from './hash-files.js'
import { hashOfKey, hintOf } from './keys.js'
import { gitPaths, listFiles } from './list-files.js'
import { withTensorDigests } from './tensor-digests.js'

export interface SignOptions extends HashFilesOptions {
  /** A private key on P-256, P-384 or P-521. */
  readonly key: KeyObject
  /** The certificate of the key, then those of its issuers. */
  readonly certificates?: readonly X509Certificate[] | undefined
  readonly hash?: HashType | undefined
  readonly shardSize?: number | undefined
  readonly allowSymlinks?: boolean | undefined
  /** Paths below the model that are not part of it. */
  readonly ignorePaths?: readonly string[] | undefined
  /** Adds the digests of all tensors, so that a verifier can name those that changed. */
  readonly tensors?: boolean | undefined
}

export interface SignResult {
  /** The signature, as a file. */
  readonly text: string
  readonly files: number
  readonly bytes: number
  /** How the signature names the signer: the hint of the key, or the subject of the certificate. */
  readonly signer: string
}

export async function signModel(model: string, options: SignOptions): Promise<SignResult> {
  const { key, certificates, hash = 'sha256', shardSize, allowSymlinks = false } = options
  const curveHash = hashOfKey(key, 'key')
  checkCertificates(key, certificates)
  const ignorePaths = [...new Set([...(options.ignorePaths ?? []), ...gitPaths])]
  const files = await listFiles(model, { allowSymlinks, ignorePaths })
  if (files.length === 0)
    failWith(ioCodes['empty-directory'], { file: model, message: 'there is no file in it to sign' })
  const serialization = { hash, shardSize, allowSymlinks, ignorePaths: files[0]!.name === '.' ? [] : ignorePaths }
  const hashed = await hashFiles(files, serialization, options)
  const resources = options.tensors ? await withTensorDigests(hashed.resources, files, options) : hashed.resources
  const manifest: Manifest = { name: basename(resolve(model)), serialization, resources }
  const payload = encodeUtf8(JSON.stringify(await statementOf(manifest)))
  const signature = sign(curveHash, signedBytes(payload), { key, dsaEncoding: 'der' })
  const hint = hintOf(createPublicKey(key))
  const material = certificates?.length ? { certificates: certificates.map(({ raw }) => raw) } : { hint }
  return {
    text: bundleText(material, payload, signature),
    files: files.length,
    bytes: hashed.bytes,
    signer: certificates?.length ? named(certificates[0]!) : hint,
  }
}

function checkCertificates(key: KeyObject, certificates: readonly X509Certificate[] | undefined): void {
  const [leaf] = certificates ?? []
  if (!leaf) return
  if (!leaf.checkPrivateKey(key))
    failWith(signatureCodes['key-mismatch'], {
      file: 'key',
      message: `${named(leaf)} is the certificate of another key`,
    })
  checkUsage(leaf, 'certificate')
}
