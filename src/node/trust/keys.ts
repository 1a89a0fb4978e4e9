// Keys for Model Signing: elliptic curve keys on three curves, each with its hash.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { failWith } from '../../errors/index.js'
import { signatureCodes } from '../../trust/index.js'

const hashOfCurve: Readonly<Record<string, string>> = {
  prime256v1: 'sha256',
  secp384r1: 'sha384',
  secp521r1: 'sha512',
}

/** The hash that goes with the curve of a key. Throws `signature/key-kind` for every other kind of key. */
export function hashOfKey(key: KeyObject, file: string): string {
  const curve = key.asymmetricKeyDetails?.namedCurve
  const hash = key.asymmetricKeyType === 'ec' && curve !== undefined ? hashOfCurve[curve] : undefined
  if (hash) return hash
  const kind =
    key.asymmetricKeyType === 'ec' ? `an elliptic curve key on ${curve}` : `a key of the kind ${key.asymmetricKeyType}`
  const message = `this is ${kind}; Model Signing uses the curves P-256, P-384 and P-521`
  return failWith(signatureCodes['key-kind'], { file, message })
}

export function readPublicKey(pem: Buffer, file: string): KeyObject {
  const key = parsed(() => createPublicKey(pem), file, 'a public key in PEM form')
  hashOfKey(key, file)
  return key
}

export function readPrivateKey(pem: Buffer, file: string, password?: string): KeyObject {
  if (isEncrypted(pem) && password === undefined)
    failWith(signatureCodes['key-kind'], { file, message: 'the key is encrypted and its password is not given' })
  const what = isEncrypted(pem) ? 'a private key in PEM form, or its password is wrong' : 'a private key in PEM form'
  const key = parsed(
    () => createPrivateKey({ key: pem, ...(password !== undefined && { passphrase: password }) }),
    file,
    what,
  )
  hashOfKey(key, file)
  return key
}

const isEncrypted = (pem: Buffer): boolean => /ENCRYPTED/.test(pem.toString('latin1'))

/** What OpenSSL says about a key that it cannot read would tell nobody anything. */
function parsed(read: () => KeyObject, file: string, wanted: string): KeyObject {
  try {
    return read()
  } catch (cause) {
    return failWith(signatureCodes['key-kind'], { file, message: `this is not ${wanted}` }, { cause })
  }
}

/** How bundles name a key: the digest of its PEM form. */
export function hintOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'pem' }))
    .digest('hex')
}
