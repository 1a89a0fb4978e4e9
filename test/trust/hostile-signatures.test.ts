// Signatures that somebody changed in ways that a verifier could overlook. Each is built by hand, and signed again where only a signer could
// have written it.
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signModel, verifySignature } from '../../src/node/trust/index.js'
import { receiptIn } from '../../src/trust/index.js'

// biome-ignore lint/suspicious/noExplicitAny: documents whose fields are changed at will
type Json = Record<string, any>
const scratch = mkdtempSync(join(tmpdir(), 'tare-hostile-sig-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const trust = { key: createPublicKey(key) }
const model = join(scratch, 'model')
let bundle: Json
let statement: Json

beforeAll(async () => {
  mkdirSync(join(model, 'sub'), { recursive: true })
  writeFileSync(join(model, 'config.json'), '{}')
  writeFileSync(join(model, 'sub', 'weights.bin'), 'weights')
  writeFileSync(join(scratch, 'outside'), '{}')
  bundle = JSON.parse((await signModel(model, { key })).text)
  statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString())
})

const type = 'application/vnd.in-toto+json'
/** The bundle around a payload that the owner of the key signed. */
function sealed(payload: string, payloadType = type): Json {
  const bytes = Buffer.from(payload)
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `), bytes])
  const signatures = [{ sig: sign('sha256', signed, key).toString('base64'), keyid: '' }]
  return { ...bundle, dsseEnvelope: { payload: bytes.toString('base64'), payloadType, signatures } }
}

/** The digest over the digests fits again, as a signer would see to. */
function restated(edit: (resources: Json[], serialization: Json) => void): Json {
  const copy = structuredClone(statement)
  edit(copy.predicate.resources, copy.predicate.serialization)
  const digests = copy.predicate.resources.map(({ digest }: Json) => Buffer.from(String(digest), 'hex'))
  copy.subject[0].digest.sha256 = createHash('sha256').update(Buffer.concat(digests)).digest('hex')
  return copy
}

const envelope = (edit: (copy: Json) => void): string => {
  const copy = structuredClone(bundle)
  edit(copy)
  return JSON.stringify(copy)
}
const signedAgain = (changed: Json): string => JSON.stringify(sealed(JSON.stringify(changed)))

async function codesOf(text: string, ignoreUnsigned?: boolean): Promise<string[]> {
  const options = { trust, ignoreUnsigned }
  const { findings } = await verifySignature(model, Buffer.from(text), join(scratch, 'model.sig'), options)
  return [...new Set(findings.filter(({ severity }) => severity === 'error').map(({ code }) => code))]
}

describe('what stays a signature', () => {
  it.each<[string, () => string]>([
    ['with its keys in another order', () => JSON.stringify(Object.fromEntries(Object.entries(bundle).reverse()))],
    ['with fields that nobody knows', () => envelope((copy) => Object.assign(copy, { later: { x: 1 } }))],
    ['with a key id', () => envelope((copy) => Object.assign(copy.dsseEnvelope.signatures[0], { keyid: 'mine' }))],
    [
      'with null for kinds of material that it has not',
      () => envelope((copy) => Object.assign(copy.verificationMaterial, { certificate: null })),
    ],
    [
      'signed with the fields of the statement in another order',
      () => signedAgain(Object.fromEntries(Object.entries(statement).reverse())),
    ],
  ])('%s', async (_, make) => {
    expect(await codesOf(make())).toEqual([])
  })
})

describe('an envelope that was changed', () => {
  const syntax = 'signature/syntax'
  it.each<[string, string, () => string]>([
    ['is cut off', syntax, () => JSON.stringify(bundle).slice(0, -20)],
    ['is no object', syntax, () => '[]'],
    ['is nested deeply', syntax, () => `{"mediaType":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    [
      'has another media type',
      syntax,
      () => envelope((copy) => Object.assign(copy, { mediaType: 'application/json' })),
    ],
    [
      'has a later version',
      syntax,
      () => envelope((copy) => Object.assign(copy, { mediaType: copy.mediaType.replace('v0.3', 'v0.9') })),
    ],
    ['has two payloads', syntax, () => JSON.stringify(bundle).replace('"payload":', '"payload":"e30=","payload":')],
    [
      'has two kinds of material',
      syntax,
      () => envelope((copy) => Object.assign(copy.verificationMaterial, { certificate: { rawBytes: 'AAAA' } })),
    ],
    [
      'has no material',
      syntax,
      () => envelope((copy) => Object.assign(copy, { verificationMaterial: { tlogEntries: [] } })),
    ],
    [
      'has another payload type',
      syntax,
      () => envelope((copy) => Object.assign(copy.dsseEnvelope, { payloadType: 'text/plain' })),
    ],
    [
      'was signed with another payload type',
      syntax,
      () => JSON.stringify(sealed(JSON.stringify(statement), 'text/plain')),
    ],
    [
      'has a second signature',
      syntax,
      () => envelope((copy) => copy.dsseEnvelope.signatures.push(copy.dsseEnvelope.signatures[0])),
    ],
    ['has no signature', syntax, () => envelope((copy) => Object.assign(copy.dsseEnvelope, { signatures: [] }))],
    [
      'has a cut payload',
      syntax,
      () => envelope((copy) => Object.assign(copy.dsseEnvelope, { payload: copy.dsseEnvelope.payload.slice(0, -3) })),
    ],
    [
      'has a payload with spaces',
      syntax,
      () => envelope((copy) => Object.assign(copy.dsseEnvelope, { payload: `${copy.dsseEnvelope.payload} ` })),
    ],
    [
      'names another key',
      'signature/key-mismatch',
      () => envelope((copy) => Object.assign(copy.verificationMaterial.publicKey, { hint: 'f'.repeat(64) })),
    ],
    [
      'has an empty signature',
      syntax,
      () => envelope((copy) => Object.assign(copy.dsseEnvelope.signatures[0], { sig: '' })),
    ],
    [
      'has a signature that is none',
      'signature/invalid',
      () => envelope((copy) => Object.assign(copy.dsseEnvelope.signatures[0], { sig: 'AAAA' })),
    ],
    [
      'has another payload of the same length',
      'signature/invalid',
      () =>
        envelope((copy) =>
          Object.assign(copy.dsseEnvelope, { payload: copy.dsseEnvelope.payload.replace(/.{8}$/, 'fX19fX0=') }),
        ),
    ],
  ])('that %s is refused', async (_, code, make) => {
    expect(await codesOf(make())).toEqual([code])
  })
})

describe('a statement that its signer wrote differently', () => {
  const wrong = 'signature/statement'
  const resource = (name: string): Json => ({ name, algorithm: 'sha256', digest: 'ab'.repeat(32) })
  it.each<[string, string, () => string]>([
    ['is no JSON', wrong, () => JSON.stringify(sealed('{'))],
    ['is nested deeply', wrong, () => JSON.stringify(sealed(`{"_type":${'['.repeat(100_000)}${']'.repeat(100_000)}}`))],
    [
      'has a key twice',
      wrong,
      () => JSON.stringify(sealed(JSON.stringify(statement).replace('"subject":', '"subject":[],"subject":'))),
    ],
    [
      'has another statement type',
      wrong,
      () => signedAgain({ ...statement, _type: 'https://in-toto.io/Statement/v0.1' }),
    ],
    [
      'has another predicate',
      wrong,
      () => signedAgain({ ...statement, predicateType: 'https://slsa.dev/provenance/v1' }),
    ],
    [
      'has two subjects',
      wrong,
      () => signedAgain({ ...statement, subject: [...statement.subject, ...statement.subject] }),
    ],
    ['has no predicate', wrong, () => signedAgain({ ...statement, predicate: null })],
    [
      'has an unknown hash',
      wrong,
      () => signedAgain(restated((_list, how) => Object.assign(how, { hash_type: 'md5' }))),
    ],
    ['mixes hashes', wrong, () => signedAgain(restated((list) => Object.assign(list[0]!, { algorithm: 'blake3' })))],
    ['has short digests', wrong, () => signedAgain(restated((list) => Object.assign(list[0]!, { digest: 'ab' })))],
    ['has a file twice', wrong, () => signedAgain(restated((list) => list.push(list[0]!)))],
    ['has a parent folder', wrong, () => signedAgain(restated((list) => list.push(resource('../outside'))))],
    ['has an absolute path', wrong, () => signedAgain(restated((list) => list.push(resource('/etc/passwd'))))],
    ['has a NUL in a name', wrong, () => signedAgain(restated((list) => list.push(resource('config.json\0'))))],
    [
      'has pieces of no length',
      wrong,
      () => signedAgain(restated((_list, how) => Object.assign(how, { method: 'shards', shard_size: 0 }))),
    ],
    [
      'has pieces of a huge length',
      wrong,
      () => signedAgain(restated((_list, how) => Object.assign(how, { method: 'shards', shard_size: 2 ** 60 }))),
    ],
    [
      'has another root digest',
      'signature/inconsistent',
      () => signedAgain({ ...statement, subject: [{ name: 'model', digest: { sha256: '0'.repeat(64) } }] }),
    ],
    [
      'has its list in another order',
      'signature/inconsistent',
      () =>
        signedAgain({
          ...statement,
          predicate: { ...statement.predicate, resources: [...statement.predicate.resources].reverse() },
        }),
    ],
    ['leaves a file out', 'signature/extra', () => signedAgain(restated((list) => list.pop()))],
    [
      'lists a file that is not there',
      'signature/missing',
      () => signedAgain(restated((list) => list.push(resource('__proto__')))),
    ],
  ])('and that %s is refused', async (_, code, make) => {
    expect(await codesOf(make())).toEqual([code])
  })

  it('may not reach outside through a link, even when only signed files count', async () => {
    symlinkSync('../outside', join(model, 'linked'))
    try {
      const digest = createHash('sha256').update('{}').digest('hex')
      const text = signedAgain(restated((list) => list.push({ ...resource('linked'), digest })))
      expect(await codesOf(text)).toEqual(['signature/link'])
      expect(await codesOf(text, true)).toEqual(['signature/link'])
    } finally {
      rmSync(join(model, 'linked'))
    }
  })
})

describe('a signed receipt', () => {
  const receipt = { receipt: 1, algorithm: 'blake3', output: { files: [{ name: 'a.npz', size: 1, digest: 'ab' }] } }
  const subject = [{ name: 'a.npz', digest: { blake3: 'ab' } }]
  const stated = {
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'urn:tare:receipt:1',
    subject,
    predicate: receipt,
  }

  it('is about the files that are the subjects of its statement', () => {
    expect(JSON.parse(receiptIn(stated, 'r.json'))).toEqual(receipt)
    const other = [{ name: 'a.npz', digest: { blake3: 'cd' } }]
    for (const changed of [[], other, [...subject, ...other]])
      expect(() => receiptIn({ ...stated, subject: changed }, 'r.json')).toThrow(/other files/)
  })

  it('is refused when it is none', () => {
    for (const changed of [
      null,
      [],
      {},
      { ...stated, predicateType: 'x' },
      { ...stated, predicate: undefined },
      { ...stated, predicate: { algorithm: 1 } },
    ])
      expect(() => receiptIn(changed, 'r.json')).toThrowError(expect.objectContaining({ code: 'signature/statement' }))
  })
})
