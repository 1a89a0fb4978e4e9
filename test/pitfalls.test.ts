// Mistakes that readers and writers of weights have made before, each with a test of its own. docs/reliability.md lists them.
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { alignUp, type Finding, MemorySource, openModel, TareError, verifySource } from '../src/kit.js'
import { convert, FileSource, verify, writeModel } from '../src/node.js'
import { runCli } from './cli/run-cli.js'
import { useTempDir } from './node/temp-dir.js'
import { fixturePath, fixtureSource, fixturesRoot } from './support/fixtures.js'

const at = useTempDir()

/** The codes of all errors. Opening must agree: it throws one of tare's own errors. */
async function refusal(format: string, file: string): Promise<string[]> {
  const { verdict, findings } = await verifySource(fixtureSource(format, file))
  expect(verdict, file).toBe('errors')
  await expect(openModel(fixtureSource(format, file), { from: format }), file).rejects.toBeInstanceOf(TareError)
  return errorsOf(findings)
}

const errorsOf = (findings: readonly Finding[]): string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)

function safetensors(header: string, data = new Uint8Array(8)): MemorySource {
  const text = new TextEncoder().encode(header)
  const bytes = new Uint8Array(8 + text.length + data.length)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true)
  bytes.set(text, 8)
  bytes.set(data, 8 + text.length)
  return new MemorySource(bytes, 'm.safetensors')
}

describe('pitfalls', () => {
  test('1 products of dimensions overflow', async () => {
    expect(await refusal('gguf', 'bad-dims-overflow.gguf')).toContain('gguf/dims-overflow')
    for (const [format, file] of [
      ['safetensors', 'bad-shape-overflow.safetensors'],
      ['npy', 'bad-shape-overflow.npy'],
      ['onnx', 'bad-dims-overflow.onnx'],
      ['embd', 'sect-bad-shape-overflow.weights'],
      ['primitiv', 'bad_product_wraps_to_zero.param'],
    ] as const)
      await refusal(format, file)
  })

  test('2 padding overflows 32 bits', async () => {
    expect(await refusal('gguf', 'bad-align-huge.gguf')).toContain('gguf/alignment')
    expect(alignUp(2 ** 40 + 1, 64)).toBe(2 ** 40 + 64)
  })

  test('3 a range lies beyond the file', async () => {
    for (const [format, file] of [
      ['gguf', 'bad-tensor-past-eof.gguf'],
      ['safetensors', 'bad-past-eof.safetensors'],
      ['embd', 'sect-bad-data-offset-out-of-range.weights'],
      ['torch', 'storage-short.pt'],
    ] as const)
      await refusal(format, file)
    expect(
      await runCli('convert', fixturePath('gguf', 'bad-truncated-data.gguf'), '-o', at('out.safetensors')),
    ).toMatchObject({ status: 1 })
  })

  test('4 a length of the header asks for gigabytes', async () => {
    await refusal('safetensors', 'bad-header-bomb.safetensors')
    await refusal('npy', 'bad-header-bomb.npy')
    const before = process.memoryUsage().arrayBuffers
    await refusal('safetensors', 'bad-header-bomb-100mb.safetensors')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 << 20)
  })

  test('5 counts and nesting have no end', async () => {
    for (const file of [
      'bad-count-bomb-kv.gguf',
      'bad-count-bomb-tensors.gguf',
      'bad-array-bomb-strings.gguf',
      'bad-dims-count-bomb.gguf',
    ])
      await refusal('gguf', file)
    expect(errorsOf((await verifySource(fixtureSource('gguf', 'hostile-deep-arrays.gguf'))).findings)).not.toContain(
      'verify/internal',
    )
    await refusal('safetensors', 'bad-deep-json.safetensors')
    await refusal('primitiv', 'bad_model_count_bomb.model')
  })

  test('6 zero and odd values', async () => {
    expect(await refusal('gguf', 'bad-align-u64.gguf')).toContain('gguf/alignment')
    expect(await refusal('gguf', 'bad-row-not-blocks.gguf')).toContain('gguf/block-rows')
    await refusal('gguf', 'bad-align-0.gguf')
    await refusal('embd', 'sect-bad-dim-zero.weights')
  })

  test('7 a JSON key occurs twice', async () => {
    const entry = '{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
    const { findings } = await verifySource(safetensors(`{"a":${entry},"a":${entry}}`, new Uint8Array(4)))
    expect(findings.map(({ code }) => code)).toContain('safetensors/duplicate-name')
  })

  test('8 ranges overlap, or leave holes', async () => {
    for (const file of [
      'bad-overlap.safetensors',
      'bad-same-range.safetensors',
      'bad-hole.safetensors',
      'bad-trailing-bytes.safetensors',
    ])
      await refusal('safetensors', file)
    await refusal('gguf', 'bad-overlap.gguf')
  })

  test('9 shape and type disagree with the bytes', async () => {
    await refusal('safetensors', 'bad-size.safetensors')
    await refusal('safetensors', 'bad-nul-padding.safetensors')
    const convertBad = runCli('convert', fixturePath('safetensors', 'bad-size.safetensors'), '-o', at('out.gguf'))
    expect(await convertBad).toMatchObject({ status: 1 })
  })

  test('10 a hundred thousand names take linear time', async () => {
    const header = Array.from(
      { length: 100_000 },
      (_, i) => `"t${i}":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`,
    ).join()
    const model = await openModel(safetensors(`{${header}}`, new Uint8Array(0)))
    expect(model.tensors.length).toBe(100_000)
  })

  test('11 a key is called __proto__', async () => {
    const model = await openModel(fixtureSource('gguf', 'hostile-proto.gguf'))
    expect([...model.metadata.keys()]).toContain('__proto__')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(
      (await openModel(fixtureSource('safetensors', 'names-proto.safetensors'))).tensors.map(({ name }) => name),
    ).toContain('__proto__')
  })

  test('12 an index leads out of its folder', async () => {
    for (const folder of ['sharded-traversal', 'sharded-absolute']) {
      const directory = join(fixturesRoot, 'safetensors', folder)
      expect((await verify(directory).catch((error) => ({ verdict: error.code }))).verdict).not.toBe('ok')
    }
    mkdirSync(at('set'))
    await writeModel({ tensors: { w: { shape: [1], data: Float32Array.of(1) } } }, at('secret.safetensors'))
    symlinkSync(at('secret.safetensors'), at('set/part.safetensors'))
    writeFileSync(at('set/model.safetensors.index.json'), '{"weight_map":{"w":"../secret.safetensors"}}')
    expect((await runCli('inspect', at('set/model.safetensors.index.json'))).status).not.toBe(0)
  })

  test('13 an index sends requests with credentials elsewhere', async () => {
    const seen: string[] = []
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '')
      response.writeHead(404).end()
    })
    const home = createServer((_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${port(elsewhere)}/x` }).end(),
    )
    const port = (server: typeof home): number => (server.address() as AddressInfo).port
    await Promise.all(
      [elsewhere, home].map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))),
    )
    try {
      const status = (
        await runCli('inspect', `http://127.0.0.1:${port(home)}/m.gguf`, '--header', 'Authorization: Bearer secret')
      ).status
      expect(status).toBe(2)
      expect(seen.filter((value) => value !== '')).toEqual([])
    } finally {
      for (const server of [elsewhere, home]) server.close()
    }
  })

  test('14 a server answers ranges with something else', async () => {
    const bytes = readFileSync(fixturePath('gguf', 'types-plain.gguf'))
    const server = createServer((request, response) => {
      const [, start, end] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
      // One byte further than was asked for.
      const from = Number(start ?? 0) + 1
      const part = bytes.subarray(from, Number(end ?? 0) + 2)
      response
        .writeHead(206, {
          'content-range': `bytes ${from}-${from + part.length - 1}/${bytes.length}`,
          'content-length': part.length,
        })
        .end(part)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    try {
      expect(
        (await runCli('hash', `http://127.0.0.1:${(server.address() as AddressInfo).port}/m.gguf`, '--no-cache'))
          .status,
      ).toBe(2)
    } finally {
      server.close()
    }
  })

  test('15 names control the terminal', async () => {
    for (const file of [
      fixturePath('gguf', 'hostile-esc-name.gguf'),
      fixturePath('torch', 'odd-esc-name.pt'),
      fixturePath('npy', 'odd-esc.npz'),
    ]) {
      for (const verb of ['inspect', 'verify', 'hash', 'stats']) {
        const { stdout, stderr } = await runCli(verb, file)
        expect(stdout + stderr, `${verb} ${file}`).not.toMatch(
          /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        )
      }
    }
  })

  test('16 zip members lie', async () => {
    for (const file of ['bad-size-lie.npz', 'bad-local-offset.npz', 'bad-encrypted.npz', 'bad-deflate.npz'])
      await refusal('npz', file).catch(() => refusal('npy', file))
    expect((await verifySource(fixtureSource('npz', 'bad-crc.npz'))).verdict).toBe('errors')
    expect((await verifySource(fixtureSource('torch', 'zip-crc.pt'))).verdict).toBe('errors')
  })

  test('17 a pickle runs programs', async () => {
    for (const file of [
      'malicious-os-system.pt',
      'malicious-eval.pt',
      'malicious-nested-load.pt',
      'malicious-getattr.pt',
    ]) {
      const { findings } = await verifySource(fixtureSource('torch', file))
      expect(errorsOf(findings), file).not.toEqual([])
    }
  })

  test('18 the header of NPY is a Python literal', async () => {
    await refusal('npy', 'bad-header-code.npy')
    await refusal('npy', 'bad-object.npy')
  })

  test('19 metadata that other programs run', async () => {
    const template = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
    await writeModel(
      { tensors: { w: { shape: [1], data: Float32Array.of(1) } }, metadata: { 'tokenizer.chat_template': template } },
      at('m.gguf'),
    )
    const { stdout } = await runCli('inspect', at('m.gguf'), '--metadata', '--json')
    expect(stdout).toContain('__subclasses__')
    // Patterns come from people, names from files: matching takes linear time.
    const name = 'a'.repeat(8000)
    await writeModel({ tensors: { [name]: { shape: [1], data: Float32Array.of(1) } } }, at('long.safetensors'))
    expect(await runCli('stats', at('long.safetensors'), '--tensors', `${'*a'.repeat(40)}b`)).toMatchObject({
      stdout: expect.any(String),
    })
  })

  test('20 ONNX: varints, nesting and external data', async () => {
    for (const file of ['bad-varint.onnx', 'bad-length-bomb.onnx', 'bad-wire-type.onnx', 'bad-field-zero.onnx'])
      await refusal('onnx', file)
  })

  test('21 numbers that JavaScript rounds', async () => {
    expect(await refusal('gguf', 'bad-offset-wraps.gguf')).not.toEqual([])
    const bits = Uint32Array.of(0x7fa00001, 0x80000000, 0xffc12345)
    await writeModel(
      { tensors: { w: { shape: [3], dtype: 'f32', data: new Float32Array(bits.buffer) } } },
      at('nan.safetensors'),
    )
    await convert(at('nan.safetensors'), at('nan.gguf'))
    expect((await runCli('diff', at('nan.safetensors'), at('nan.gguf'))).status).toBe(0)
  })

  test('22 converters lose things silently', async () => {
    const { status, stderr } = await runCli(
      'convert',
      fixturePath('safetensors', 'dtypes-common.safetensors'),
      '-o',
      at('x.gguf'),
      '--cast',
      'f16',
    )
    expect([0, 1]).toContain(status)
    expect(stderr).toMatch(/loss|precision/)
    const damaged = fixturePath('npz', 'bad-crc.npz')
    expect(await runCli('convert', damaged, '-o', at('y.safetensors'))).toMatchObject({ status: 1 })
  })

  test('23 a file changes while it is read', async () => {
    await writeModel({ tensors: { w: { shape: [2], data: Float32Array.of(1, 2) } } }, at('a.safetensors'))
    const source = await FileSource.open(at('a.safetensors'))
    await source.assertUnchanged()
    appendFileSync(at('a.safetensors'), 'x')
    await expect(source.assertUnchanged()).rejects.toMatchObject({ code: 'io/changed' })
    await source.close()
  })

  test('24 what was not checked is not called sound', async () => {
    expect(await runCli('verify', at('missing.gguf'))).toMatchObject({ status: 2 })
    writeFileSync(at('junk'), 'junk that no format knows')
    expect(await runCli('verify', at('junk'))).toMatchObject({ status: 1 })
    const { stdout } = await runCli('verify', '--json', fixturePath('gguf', 'types-plain.gguf'))
    expect(JSON.parse(stdout).findings.map(({ code }: Finding) => code)).toContain('verify/no-checksums')
  })
})

it('every pitfall has a row in the docs, and every row a test', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/reliability.md'), 'utf8')
  const own = readFileSync(import.meta.filename, 'utf8')
  const section = page.slice(page.indexOf('## Known pitfalls'))
  const rows = [...section.matchAll(/^\| (\d+) \| (.+?) \|/gm)].map(([, number, title]) => `${number} ${title}`)
  const tests = [...own.matchAll(/^ {2}test\('(\d+ .+?)'/gm)].map(([, title]) => title)
  expect(tests).toHaveLength(24)
  expect(rows).toEqual(tests)
})
