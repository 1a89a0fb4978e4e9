// Signed statements: JSON in a DSSE envelope, with the key or the certificates that verify it.
import { createPublicKey, type KeyObject, sign, verify, type X509Certificate } from 'node:crypto'
import { encodeUtf8 } from '../../bytes/index.js'
import { failWith } from '../../errors/index.js'
import {
  type Bundle,
  bundleText,
  oldSignedBytes,
  readBundle,
  signatureCodes,
  signedBytes,
  signedJson,
} from '../../trust/index.js'
import { checkChain, checkUsage, named, parseCertificate } from './certificates.js'
import { checkKeyless, type KeylessTrust } from './keyless.js'
import { hashOfKey, hintOf } from './keys.js'

/** What to sign with. */
export interface SigningKey {
  /** A private key on P-256, P-384 or P-521. */
  readonly key: KeyObject
  /** The certificate of the key, then those of its issuers. */
  readonly certificates?: readonly X509Certificate[] | undefined
}

/** Whom to trust: a public key, root certificates, or an identity that a Sigstore log vouches for. */
export type Trust = { readonly key: KeyObject } | { readonly roots: readonly X509Certificate[] } | KeylessTrust

/** The text of a bundle with the statement, and how it names the signer: the hint of the key, or the subject of the certificate. */
export function signStatement(
  statement: unknown,
  { key, certificates = [] }: SigningKey,
): { text: string; signer: string } {
  const hash = hashOfKey(key, 'key')
  const [leaf] = certificates
  if (leaf) checkCertificate(leaf, key)
  const payload = encodeUtf8(JSON.stringify(statement))
  const signature = sign(hash, signedBytes(payload), { key, dsaEncoding: 'der' })
  const hint = hintOf(createPublicKey(key))
  const material = leaf ? { certificates: certificates.map(({ raw }) => raw) } : { hint }
  return { text: bundleText(material, payload, signature), signer: leaf ? named(leaf) : hint }
}

/** Throws unless the certificate is that of the key, and may be used for signing. */
export function checkCertificate(leaf: X509Certificate, key: KeyObject): void {
  if (!leaf.checkPrivateKey(key)) {
    const message = `${named(leaf)} is the certificate of another key`
    failWith(signatureCodes['key-mismatch'], { file: 'key', message })
  }
  checkUsage(leaf, 'certificate')
}

export interface OpenedStatement {
  readonly statement: unknown
  readonly method: Bundle['method']
  readonly signer: string
  /** It has the form of a version before 1.1. */
  readonly isOld: boolean
}

/** The statement in a signature file. Throws unless somebody who is trusted signed it. */
export async function openStatement(bytes: Uint8Array, file: string, trust: Trust): Promise<OpenedStatement> {
  const bundle = readBundle(bytes, file)
  const { signer, isOld } = await checkSigner(bundle, trust, file)
  const statement = signedJson(bundle.payload, file, signatureCodes.statement, 'dsseEnvelope.payload')
  return { statement, method: bundle.method, signer, isOld: isOld || (bundle.method === 'key' && !bundle.hint) }
}

interface Signer {
  readonly signer: string
  readonly isOld: boolean
}

/** Throws unless somebody who is trusted signed the payload. */
async function checkSigner(bundle: Bundle, trust: Trust, file: string): Promise<Signer> {
  const wanted = 'key' in trust ? 'key' : 'roots' in trust ? 'certificate' : 'sigstore'
  if (bundle.method !== wanted) {
    const needs = { key: 'a public key', certificate: 'root certificates', sigstore: 'an identity and its issuer' }[
      bundle.method
    ]
    failWith(signatureCodes['key-mismatch'], {
      file,
      offset: 0,
      path: 'verificationMaterial',
      message: `this signature is verified with ${needs}`,
    })
  }
  if ('key' in trust) {
    const hint = hintOf(trust.key)
    if (bundle.hint !== undefined && bundle.hint !== hint)
      failWith(signatureCodes['key-mismatch'], {
        file,
        offset: 0,
        path: 'verificationMaterial.publicKey.hint',
        message: `the signature names the key ${bundle.hint}, the given key is ${hint}`,
      })
    return { signer: hint, isOld: checkBytes(bundle, trust.key, hashOfKey(trust.key, file), file) }
  }
  if ('roots' in trust) {
    const chain = bundle.certificates.map((der) => parseCertificate(der, file))
    checkChain(chain, trust.roots, file)
    const key = chain[0]!.publicKey
    // Version 0.2 took SHA-256 whatever the curve.
    return { signer: named(chain[0]!), isOld: checkBytes(bundle, key, 'sha256', file) }
  }
  return { signer: await checkKeyless(bundle, trust, file), isOld: false }
}

/** Throws unless the signature fits; the answer is whether it is of the kind that version 0.2 made. */
function checkBytes({ payload, signature }: Bundle, key: KeyObject, oldHash: string, file: string): boolean {
  const publicKey = key.type === 'public' ? key : createPublicKey(key)
  const fits = (hash: string, bytes: Uint8Array): boolean =>
    verify(hash, bytes, { key: publicKey, dsaEncoding: 'der' }, signature)
  if (fits(hashOfKey(publicKey, file), signedBytes(payload))) return false
  if (fits(oldHash, oldSignedBytes(payload))) return true
  return failWith(signatureCodes.invalid, {
    file,
    offset: 0,
    path: 'dsseEnvelope.signatures[0].sig',
    message: 'the signature does not match the payload and the key',
  })
}
