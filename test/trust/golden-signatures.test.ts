// Signatures by the reference implementation of Model Signing, and what its verifier says about them.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  readCertificates,
  readPublicKey,
  type SignatureResult,
  type Trust,
  verifySignature,
} from '../../src/node/trust/index.js'
import { besideRoot } from '../support/fixtures.js'

const golden = join(besideRoot, 'oms')
const isThere = existsSync(join(golden, 'cases.json'))
const scratch = mkdtempSync(join(tmpdir(), 'tare-oms-'))
afterAll(() => rmSync(scratch, { recursive: true }))

interface Mutation {
  readonly op: 'flip' | 'delete' | 'add' | 'append' | 'truncate' | 'rename' | 'symlink'
  readonly file: string
  readonly offset: number
  readonly base64: string
  readonly length: number
  readonly to: string
}

interface Case {
  readonly model: string
  readonly signature: string
  readonly publicKey?: string
  readonly certificateChain?: readonly string[]
  readonly verifies: boolean | null
  readonly mutations?: readonly Mutation[]
  readonly ignorePaths?: readonly string[]
  readonly ignoreUnsignedFiles?: boolean
}

interface BundleJson {
  readonly dsseEnvelope: { payload: string }
  readonly verificationMaterial: { tlogEntries: unknown[]; certificate?: unknown }
}

interface Keyless extends Case {
  readonly identity: string
  readonly issuer: string
  readonly trustedRoot: string
}

const { cases, keyless }: { cases: Case[]; keyless: Keyless[] } = isThere
  ? JSON.parse(readFileSync(join(golden, 'cases.json'), 'utf8'))
  : { cases: [], keyless: [] }

let count = 0
function copyOf(model: string): string {
  const to = join(scratch, `${count++}`, basename(model))
  mkdirSync(dirname(to), { recursive: true })
  cpSync(join(golden, model), to, { recursive: true })
  return to
}

function mutate(model: string, { op, file, offset, base64, length, to }: Mutation): void {
  const path = join(model, file)
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  const given = Buffer.from(base64 ?? '', 'base64')
  if (op === 'flip') bytes[offset]! ^= 1
  if (op === 'flip') writeFileSync(path, bytes)
  else if (op === 'add') writeFileSync(path, given)
  else if (op === 'append') writeFileSync(path, Buffer.concat([bytes, given]))
  else if (op === 'delete') rmSync(path)
  else if (op === 'truncate') truncateSync(path, length)
  else if (op === 'rename') renameSync(path, join(model, to))
  else symlinkSync(to, path)
}

const read = (file: string): Buffer => readFileSync(join(golden, file))

function trustOf({ publicKey, certificateChain = [] }: Case): Trust {
  if (publicKey !== undefined) return { key: readPublicKey(read(publicKey), publicKey) }
  return { roots: certificateChain.flatMap((file) => readCertificates(read(file), file)) }
}

const errorsOf = ({ findings }: SignatureResult): string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code, path }) => `${code} ${path}`)

describe.skipIf(!isThere)('signatures of the reference', () => {
  it.each(cases.map((each, i) => [`${i} ${each.signature} ${JSON.stringify(each.mutations ?? '')}`, each] as const))(
    '%s',
    async (_, each) => {
      const model = copyOf(each.model)
      for (const mutation of each.mutations ?? []) mutate(model, mutation)
      const verify = async (): Promise<string[]> =>
        errorsOf(
          await verifySignature(model, read(each.signature), join(golden, each.signature), {
            trust: trustOf(each),
            ignorePaths: each.ignorePaths,
            ignoreUnsigned: each.ignoreUnsignedFiles,
          }),
        )
      const errors = await verify().catch((error: Error) => [error.message])
      if (each.verifies !== null) expect(errors.length === 0, errors.join('\n')).toBe(each.verifies)
      const [mutation] = each.mutations ?? []
      if (errors.length > 0 && mutation?.op === 'flip') expect(errors.join()).toContain(mutation.file)
    },
  )
})

describe.skipIf(!isThere)('keyless bundles of the reference', () => {
  const verifyKeyless = async (
    each: Keyless,
    identity = each.identity,
    change = (bytes: Buffer) => bytes,
  ): Promise<string[]> =>
    errorsOf(
      await verifySignature(join(golden, each.model), change(read(each.signature)), join(golden, each.signature), {
        trust: { identity, issuer: each.issuer, trustRoot: JSON.parse(read(each.trustedRoot).toString()) },
        ignorePaths: each.ignorePaths,
      }),
    )
  it.each(keyless.map((each) => [each.signature, each] as const))('%s', async (_, each) => {
    expect(await verifyKeyless(each)).toEqual([])
    expect(await verifyKeyless(each, 'someone@example.org')).not.toEqual([])
    expect(await verifyKeyless(each, each.identity.replace('.', 'x'))).not.toEqual([])
    expect(await verifyKeyless({ ...each, issuer: 'https://example.org' })).not.toEqual([])
    const changed = (edit: (bundle: BundleJson) => void) => (bytes: Buffer) => {
      const bundle = JSON.parse(bytes.toString())
      edit(bundle)
      return Buffer.from(JSON.stringify(bundle))
    }
    const payload = changed((bundle) => {
      const bits = Buffer.from(bundle.dsseEnvelope.payload, 'base64')
      bits[40]! ^= 1
      bundle.dsseEnvelope.payload = bits.toString('base64')
    })
    expect(await verifyKeyless(each, each.identity, payload)).not.toEqual([])
    const log = changed((bundle) => {
      bundle.verificationMaterial.tlogEntries = []
    })
    expect(await verifyKeyless(each, each.identity, log)).not.toEqual([])
    const old = changed((bundle) => {
      const { certificate, ...rest } = bundle.verificationMaterial
      const verificationMaterial = { ...rest, x509CertificateChain: { certificates: [certificate] } }
      Object.assign(bundle, { mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.2', verificationMaterial })
    })
    expect(await verifyKeyless(each, each.identity, old)).toEqual([])
    expect(await verifyKeyless(each, 'someone@example.org', old)).not.toEqual([])
  })
})
