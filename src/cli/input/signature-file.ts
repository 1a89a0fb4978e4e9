// Where the signature of a model is, and what it is verified with.
import {
  readCertificates,
  readPrivateKey,
  readPublicKey,
  type SigningKey,
  TareError,
  type Trust,
} from '../../kit-node.js'
import { UsageError } from '../status.js'
import { readSideFile } from './side-file.js'

interface KeyOptions {
  readonly key?: string
  readonly certificate?: string
  readonly chain?: readonly string[]
}

/** The private key of the flags, with its certificates. The password of an encrypted one comes from the environment. */
export async function readSigningKey({ key, certificate, chain }: KeyOptions): Promise<SigningKey | undefined> {
  if (chain && certificate === undefined) throw new UsageError('--chain goes with --certificate')
  if (key === undefined) {
    if (certificate !== undefined) throw new UsageError('--certificate goes with --key')
    return undefined
  }
  const files = [certificate, ...(chain ?? [])].filter((file) => file !== undefined)
  const certificates = await Promise.all(
    files.map(async (file) => readCertificates(await readSideFile(file, maxPem), file)),
  )
  const pem = await readSideFile(key, maxPem)
  const privateKey = ofUse(() => readPrivateKey(pem, key, process.env.TARE_KEY_PASSWORD))
  return { key: privateKey, certificates: certificates.flat() }
}

/** A key of another kind says nothing about the model. */
function ofUse<Key>(read: () => Key): Key {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    throw new UsageError(`${error.finding.file}: ${error.finding.message}`)
  }
}

interface TrustOptions {
  readonly key?: string
  readonly ca?: readonly string[]
  readonly identity?: string
  readonly issuer?: string
  readonly trustRoot?: string
}

/** Whom the flags say to trust; undefined if they ask for no signature. */
export async function readTrust({ key, ca, identity, issuer, trustRoot }: TrustOptions): Promise<Trust | undefined> {
  const given = [key !== undefined && '--key', ca && '--ca', identity !== undefined && '--identity'].filter(Boolean)
  if (given.length > 1) throw new UsageError(`${given.join(' and ')} are different ways to trust; give one of them`)
  if (key !== undefined) {
    const pem = await readSideFile(key, maxPem)
    return { key: ofUse(() => readPublicKey(pem, key)) }
  }
  if (ca)
    return {
      roots: (
        await Promise.all(ca.map(async (file) => readCertificates(await readSideFile(file, maxBundle), file)))
      ).flat(),
    }
  if (identity === undefined) {
    if (issuer !== undefined || trustRoot !== undefined)
      throw new UsageError('--issuer and --trust-root go with --identity')
    return undefined
  }
  if (issuer === undefined) throw new UsageError('--identity needs --issuer, who vouches for it')
  if (trustRoot === undefined)
    throw new UsageError(
      "--identity needs --trust-root FILE, Sigstore's trusted_root.json: nothing is fetched to verify",
    )
  return { identity, issuer, trustRoot: parseJson((await readSideFile(trustRoot, maxBundle)).toString(), trustRoot) }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${file} is not JSON`)
  }
}

const maxPem = 1 << 20
const maxBundle = 64 << 20
