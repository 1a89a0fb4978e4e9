import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import {
  readCertificates,
  readPrivateKey,
  type SignOptions,
  signModel,
  verifySignature,
} from '../../src/node/trust/index.js'
import { writeModel } from '../../src/node.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-sign-'))
afterAll(() => rmSync(scratch, { recursive: true }))

let count = 0
let model = ''
beforeEach(async () => {
  model = join(scratch, `model-${count++}`)
  mkdirSync(join(model, 'sub'), { recursive: true })
  writeFileSync(join(model, 'config.json'), '{}')
  writeFileSync(join(model, 'empty.bin'), '')
  writeFileSync(join(model, 'sub', 'a:b.txt'), 'text')
  await writeWeights(1)
})

const writeWeights = (value: number): Promise<unknown> =>
  writeModel(
    { tensors: { w: { shape: [2], data: Float32Array.of(value, 2) }, b: { shape: [1], data: Float32Array.of(3) } } },
    join(model, 'model.safetensors'),
  )

const keyOn = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).privateKey

async function signAndVerify(options: SignOptions, change: () => unknown = () => {}): Promise<string[]> {
  const { text } = await signModel(model, options)
  await change()
  const { findings } = await verifySignature(model, Buffer.from(text), join(scratch, 'model.sig'), {
    trust: { key: createPublicKey(options.key) },
  })
  return findings.map(({ code, path }) => `${code} ${path}`)
}

describe('a signature with a key', () => {
  it.each(['P-256', 'P-384', 'P-521'])('on %s is verified with its public key', async (curve) => {
    expect(await signAndVerify({ key: keyOn(curve) })).toEqual([])
  })

  it.each([
    [{ hash: 'blake2b' }],
    [{ hash: 'blake3' }],
    [{ shardSize: 7 }],
    [{ hash: 'blake2b', shardSize: 10 }],
    [{ tensors: true }],
    [{ tensors: true, shardSize: 1000 }],
    [{ ignorePaths: ['sub'] }],
  ] as const)('made with %j names what changed', async (options) => {
    const key = keyOn('P-256')
    expect(await signAndVerify({ key, ...options })).toEqual([])
    const changed = await signAndVerify({ key, ...options }, () => writeFileSync(join(model, 'config.json'), '[]'))
    expect(changed).toHaveLength(1)
    expect(changed[0]).toMatch(/^signature\/changed config\.json/)
    const added = await signAndVerify({ key, ...options }, () => writeFileSync(join(model, 'new'), 'x'))
    expect(added.join()).toMatch(/^signature\/extra new/)
    const removed = await signAndVerify({ key, ...options }, () => rmSync(join(model, 'config.json')))
    expect(removed.join()).toMatch(/^signature\/missing /)
  })

  it('names the tensors that changed, where they were signed', async () => {
    const changed = await signAndVerify({ key: keyOn('P-256'), tensors: true }, () => writeWeights(9))
    expect(changed).toEqual(['signature/changed model.safetensors', 'signature/tensor tensors["w"]'])
  })

  it('of a single file has the name that the reference gives it', async () => {
    const directory = model
    model = join(directory, 'model.safetensors')
    const { text } = await signModel(model, { key: keyOn('P-256') })
    const payload = JSON.parse(Buffer.from(JSON.parse(text).dsseEnvelope.payload, 'base64').toString())
    expect(payload.subject[0].name).toBe('model.safetensors')
    expect(payload.predicate.resources.map(({ name }: { name: string }) => name)).toEqual(['.'])
    expect(await signAndVerify({ key: keyOn('P-256') })).toEqual([])
  })

  it('of another key is refused', async () => {
    const { text } = await signModel(model, { key: keyOn('P-256') })
    const trust = { key: createPublicKey(keyOn('P-256')) }
    const { findings, signer } = await verifySignature(model, Buffer.from(text), 'model.sig', { trust })
    expect(findings.map(({ code }) => code)).toEqual(['signature/key-mismatch'])
    expect(signer).toBeNull()
  })

  it('is not made for a model with links, unless they are allowed', async () => {
    symlinkSync('config.json', join(model, 'link.json'))
    const key = keyOn('P-256')
    await expect(signModel(model, { key })).rejects.toMatchObject({ code: 'signature/link' })
    expect(await signAndVerify({ key, allowSymlinks: true })).toEqual([])
    symlinkSync('.', join(model, 'loop'))
    await expect(signModel(model, { key, allowSymlinks: true })).rejects.toMatchObject({ code: 'signature/link' })
  })

  it.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['Ed25519', generateKeyPairSync('ed25519').privateKey],
    ['secp256k1', keyOn('secp256k1')],
  ])('is not made with %s', async (_, key) => {
    await expect(signModel(model, { key })).rejects.toMatchObject({ code: 'signature/key-kind' })
  })

  it('asks for the password of an encrypted key', () => {
    const key = keyOn('P-256')
    const pem = Buffer.from(key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open' }))
    expect(() => readPrivateKey(pem, 'key.pem')).toThrow(/encrypted/)
    expect(() => readPrivateKey(pem, 'key.pem', 'wrong')).toThrow(/password is wrong/)
    expect(readPrivateKey(pem, 'key.pem', 'open').equals(key)).toBe(true)
  })
})

const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'])
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!hasOpenssl)('a signature with a certificate', () => {
  const openssl = (...words: string[]): void => void execFileSync('openssl', words, { cwd: scratch, stdio: 'pipe' })
  const certify = (name: string, issuer: string | undefined, extensions: string): void => {
    openssl('ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', `${name}.key`)
    openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`)
    writeFileSync(join(scratch, `${name}.ext`), extensions)
    const by =
      issuer === undefined
        ? ['-signkey', `${name}.key`]
        : ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial']
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...by,
      '-days',
      '30',
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.pem`,
    )
  }
  const certificates = (...names: string[]) =>
    names.flatMap((name) => readCertificates(readFileSync(join(scratch, `${name}.pem`)), name))
  const verifyWith = async (leaf: string, between: string[], roots: string[]): Promise<string[]> => {
    const key = readPrivateKey(readFileSync(join(scratch, `${leaf}.key`)), leaf)
    const { text } = await signModel(model, { key, certificates: certificates(leaf, ...between) })
    const { findings } = await verifySignature(model, Buffer.from(text), 'model.sig', {
      trust: { roots: certificates(...roots) },
    })
    return findings.map(({ code }) => code)
  }

  it('leads to a root, through authorities only', async () => {
    certify('root', undefined, 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign')
    certify('middle', 'root', 'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign')
    certify('deeper', 'middle', 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign')
    certify('leaf', 'middle', 'keyUsage=digitalSignature')
    certify('deep', 'deeper', 'keyUsage=digitalSignature')
    certify('fake', 'leaf', 'keyUsage=digitalSignature')
    certify('other', undefined, 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign')
    certify('odd', 'middle', 'keyUsage=digitalSignature\n1.2.3.4=critical,ASN1:NULL')
    expect(await verifyWith('leaf', ['middle'], ['root'])).toEqual([])
    expect(await verifyWith('leaf', [], ['root', 'middle'])).toEqual([])
    expect(await verifyWith('leaf', ['middle'], ['other'])).toEqual(['signature/certificate'])
    expect(await verifyWith('leaf', ['middle', 'root'], ['other'])).toEqual(['signature/certificate'])
    expect(await verifyWith('leaf', [], ['middle'])).toEqual(['signature/certificate'])
    expect(await verifyWith('fake', ['leaf', 'middle'], ['root'])).toEqual(['signature/certificate'])
    expect(await verifyWith('deep', ['deeper', 'middle'], ['root'])).toEqual(['signature/certificate'])
    expect(await verifyWith('odd', ['middle'], ['root'])).toEqual(['signature/certificate'])
  })
})
