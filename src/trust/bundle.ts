// A signature file is a Sigstore bundle: the signed bytes in a DSSE envelope, and what a verifier needs to find the key.
import { encodeUtf8, toBase64 } from '../bytes/index.js'
import { type Code, failWith, TareError } from '../errors/index.js'
import { base64At, objectAt, type Refuse } from '../wire/json/fields.js'
import { strictJson } from '../wire/json/strict-json.js'
import { signatureCodes } from './codes.js'

export const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json'
export const payloadType = 'application/vnd.in-toto+json'

export interface Bundle {
  readonly method: 'key' | 'certificate' | 'sigstore'
  /** SHA-256 of the public key; older bundles have none. */
  readonly hint?: string | undefined
  /** DER, the signer's first. */
  readonly certificates: readonly Uint8Array[]
  readonly payload: Uint8Array
  readonly signature: Uint8Array
  /** The whole file as JSON, for keyless bundles, which `@sigstore/verify` reads itself. */
  readonly json: unknown
}

/** Throws `signature/syntax` with the path of the field that is wrong. */
export function readBundle(bytes: Uint8Array, file: string): Bundle {
  const refuse = (path: string, message: string): never =>
    failWith(signatureCodes.syntax, { file, offset: 0, path, message })
  const json = signedJson(bytes, file, signatureCodes.syntax)
  const bundle = objectAt(json, '', refuse)
  const material = materialOf(bundle.verificationMaterial, oldTypes.includes(bundle.mediaType), refuse)
  // Versions of keyless bundles are the concern of the library that verifies them.
  if (bundle.mediaType !== bundleType && material.method !== 'sigstore')
    refuse('mediaType', `expected ${bundleType}, not ${JSON.stringify(bundle.mediaType)}`)
  const envelope = objectAt(bundle.dsseEnvelope, 'dsseEnvelope', refuse)
  if (envelope.payloadType !== payloadType)
    refuse('dsseEnvelope.payloadType', `expected ${payloadType}, not ${JSON.stringify(envelope.payloadType)}`)
  if (!Array.isArray(envelope.signatures) || envelope.signatures.length !== 1)
    refuse('dsseEnvelope.signatures', 'expected exactly one signature')
  const [first] = envelope.signatures as unknown[]
  return {
    ...material,
    payload: base64At(envelope.payload, 'dsseEnvelope.payload', refuse),
    signature: base64At(
      objectAt(first, 'dsseEnvelope.signatures[0]', refuse).sig,
      'dsseEnvelope.signatures[0].sig',
      refuse,
    ),
    json,
  }
}

/** What verifiers could read in two ways is refused: with a key that occurs twice, each could take another value. */
export function signedJson(bytes: Uint8Array, file: string, code: Code, path?: string): unknown {
  try {
    return strictJson(bytes, file)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const { offset = 0, path: inside = '' } = error.finding
    const message = `not strict JSON: ${error.finding.message}`
    return failWith(code, { file, message, ...(path === undefined ? { offset, path: inside } : { offset: 0, path }) })
  }
}

const oldTypes: readonly unknown[] = [1, 2].map(
  (minor) => `application/vnd.dev.sigstore.bundle+json;version=0.${minor}`,
)
const materials = ['publicKey', 'x509CertificateChain', 'certificate'] as const

/** `isOld`: in bundles of these versions a keyless signature has a chain, too; no signature with a key or a certificate has them. */
function materialOf(value: unknown, isOld: boolean, refuse: Refuse): Pick<Bundle, 'method' | 'hint' | 'certificates'> {
  const path = 'verificationMaterial'
  const material = objectAt(value, path, refuse)
  const given = materials.filter((kind) => material[kind] !== undefined && material[kind] !== null)
  if (given.length !== 1) refuse(path, `expected one of ${materials.join(', ')}, not ${given.length}`)
  const [kind] = given
  if (kind === 'publicKey') {
    const { hint } = objectAt(material.publicKey, `${path}.publicKey`, refuse)
    if (hint !== undefined && hint !== null && typeof hint !== 'string')
      refuse(`${path}.publicKey.hint`, 'expected a text')
    return { method: 'key', hint: (hint as string) || undefined, certificates: [] }
  }
  if (kind === 'x509CertificateChain') {
    const at = `${path}.x509CertificateChain`
    const { certificates } = objectAt(material.x509CertificateChain, at, refuse)
    if (!Array.isArray(certificates) || certificates.length === 0)
      refuse(`${at}.certificates`, 'expected a certificate')
    const list = (certificates as unknown[]).map((each, i) => certificateAt(each, `${at}.certificates[${i}]`, refuse))
    return { method: isOld ? 'sigstore' : 'certificate', certificates: list }
  }
  return { method: 'sigstore', certificates: [certificateAt(material.certificate, `${path}.certificate`, refuse)] }
}

const certificateAt = (value: unknown, path: string, refuse: Refuse): Uint8Array =>
  base64At(objectAt(value, path, refuse).rawBytes, `${path}.rawBytes`, refuse)

/** What goes into a bundle; the fields are in the order in which the reference writes them. */
export function bundleText(
  material: { readonly hint: string } | { readonly certificates: readonly Uint8Array[] },
  payload: Uint8Array,
  signature: Uint8Array,
): string {
  const verificationMaterial =
    'hint' in material
      ? { publicKey: { hint: material.hint }, tlogEntries: [] }
      : {
          x509CertificateChain: { certificates: material.certificates.map((der) => ({ rawBytes: toBase64(der) })) },
          tlogEntries: [],
        }
  const dsseEnvelope = {
    payload: toBase64(payload),
    payloadType,
    signatures: [{ sig: toBase64(signature), keyid: '' }],
  }
  return `${JSON.stringify({ mediaType: bundleType, verificationMaterial, dsseEnvelope })}\n`
}

/** The bytes that a DSSE signature is made over. */
export function signedBytes(payload: Uint8Array): Uint8Array {
  const head = encodeUtf8(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `)
  const bytes = new Uint8Array(head.length + payload.length)
  bytes.set(head)
  bytes.set(payload, head.length)
  return bytes
}

/** What version 0.2 signed by mistake: the payload as Python shows bytes, with quotes and escapes. */
export function oldSignedBytes(payload: Uint8Array): Uint8Array {
  const quote = payload.includes(0x27) && !payload.includes(0x22) ? '"' : "'"
  let shown = ''
  for (const byte of payload) shown += pythonByte(byte, quote)
  return encodeUtf8(`DSSEV1 ${payloadType.length} ${payloadType} ${payload.length} b${quote}${shown}${quote}`)
}

function pythonByte(byte: number, quote: string): string {
  const letter = String.fromCharCode(byte)
  if (letter === quote || letter === '\\') return `\\${letter}`
  if (letter === '\n') return '\\n'
  if (letter === '\r') return '\\r'
  if (letter === '\t') return '\\t'
  return byte < 0x20 || byte > 0x7e ? `\\x${byte.toString(16).padStart(2, '0')}` : letter
}
