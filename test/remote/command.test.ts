// Models on a server, through the command line: how many requests they take, what their bytes were compared with, and which addresses
// are followed.
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { fixturePath } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { useServer } from './server.js'

const server = useServer()
const other = useServer()
const at = useTempDir()
const main = 'model.aeroset.json'

let cacheBefore: string | undefined
beforeEach(() => {
  cacheBefore = process.env.TARE_CACHE
  process.env.TARE_CACHE = at('cache')
})
afterEach(() => {
  if (cacheBefore === undefined) delete process.env.TARE_CACHE
  else process.env.TARE_CACHE = cacheBefore
})

const large = Array.from({ length: 4 }, (_, i) => sampleTensor(`layer.${i}.weight`, 'f32', [512, 512], i + 1))
const small = Array.from({ length: 600 }, (_, i) => sampleTensor(`layer.${i}.norm.with.a.longer.name`, 'f32', [8], i))
const model = sampleModel([...large, ...small])
const bytesOf = (name: string) => model.tensors.find((tensor) => tensor.name === name)!.data!.read!(0, 1 << 20)

async function serve(target: string, options: object, folder = '', on = server): Promise<Map<string, Uint8Array>> {
  const files = await convertToFiles(model, target, { name: main, ...options })
  for (const [name, bytes] of files) on.files.set(folder + name, bytes)
  return files
}

async function extract(address: string, ...more: string[]) {
  server.seen.length = 0
  const ran = await tare('extract', address, 'layer.2.weight', '-o', at('out.bin'), ...more)
  return { ...ran, requests: server.seen.length }
}

const split = { shardSize: 1_100_000, extra: { 'part-shards': 1 } }

describe('a tensor out of a set', () => {
  it.each([
    ['with hashes of tensors', {}, 'hash_b3 of the tensor', 'hash_b3 of the tensor'],
    ['with page hashes', { 'page-hashes': 4096 }, 'weights.shard2 (256 pages)', 'weights.shard2 (1 page)'],
    ['without hashes', { 'tensor-hashes': 'off' }, 'no hash to compare it with', 'no hash to compare it with'],
  ])('%s takes four requests and says what it was checked against', async (_, extra, whole, slice) => {
    await serve('aeroset', { ...split, extra: { ...split.extra, ...extra } })
    const cold = await extract(server.url(main))
    expect([cold.status, cold.requests]).toEqual([0, 4])
    expect(cold.stderr).toContain(whole)
    const truth = await bytesOf('layer.2.weight')
    expect(Buffer.compare(readFileSync(at('out.bin')), truth)).toBe(0)
    const warm = await extract(server.url(main))
    expect([warm.status, warm.requests]).toEqual([0, 3])
    const part = await extract(server.url(main), '--slice', '100:102,:', '--no-cache')
    expect(part.status).toBe(0)
    expect(part.requests).toBeLessThanOrEqual(4)
    expect(part.stderr).toContain(slice)
    expect(Buffer.compare(readFileSync(at('out.bin')), truth.subarray(100 * 2048, 102 * 2048))).toBe(0)
  })

  it.each(['v01', 'global-ids'])('of the reference (%s) takes four requests', async (set) => {
    const folder = dirname(fixturePath('aeroset', `sets/${set}/${main}`))
    for (const name of readdirSync(folder)) server.files.set(name, new Uint8Array(readFileSync(join(folder, name))))
    const { tensors } = JSON.parse((await tare('inspect', '--json', server.url(main))).stdout)
    expect(server.seen.length).toBe(2)
    for (const { name } of tensors) {
      server.seen.length = 0
      const { status } = await tare('extract', server.url(main), name, '-o', at('out.bin'), '--no-cache')
      expect([status, server.seen.length <= 4], name).toEqual([0, true])
    }
  })

  it('that was changed on the way is not handed out', async () => {
    const files = await serve('aeroset', split)
    const part = files.get('part-002.aero')!.slice()
    part[part.byteLength - 5]! ^= 1
    server.files.set('part-002.aero', part)
    const { status, stderr } = await extract(server.url(main))
    expect([status, stderr.includes('aero/tensor-hash-b3')]).toEqual([1, true])
  })
})

describe('a file', () => {
  const vocabulary = new Map(model.metadata).set('tokens', { type: 'str', value: 'token '.repeat(50_000) })
  it.each([
    ['with its index behind the weights', model, {}],
    ['with its index in front', model, { deterministic: true }],
    ['with much metadata, and its index behind the weights', { ...model, metadata: vocabulary }, {}],
    ['with much metadata, and its index in front', { ...model, metadata: vocabulary }, { deterministic: true }],
  ])('%s is listed in two requests', async (_, from, options) => {
    const [bytes] = (await convertToFiles(from, 'aero', { name: 'm.aero', ...options })).values()
    server.files.set('m.aero', bytes!)
    const { stdout } = await tare('inspect', '--json', server.url('m.aero'))
    expect([JSON.parse(stdout).tensors.length, server.seen.length]).toEqual([604, 2])
  })

  it('whose sections follow one another gets them all with one request, beside those for its two ends', async () => {
    const many = Array.from({ length: 3000 }, (_, i) =>
      sampleTensor(`layer.${i}.norm.with.a.longer.name`, 'f32', [1], i),
    )
    const [bytes] = (await convertToFiles({ ...sampleModel(many), metadata: vocabulary }, 'embd')).values()
    server.files.set('m.embd', bytes!)
    const { stdout } = await tare('inspect', '--json', server.url('m.embd'))
    expect([JSON.parse(stdout).tensors.length, server.seen.length]).toEqual([3000, 3])
  })

  it('says what a tensor and a slice of it were checked against', async () => {
    const [bytes] = (await convertToFiles(model, 'aero', { name: 'm.aero', extra: { 'page-hashes': 4096 } })).values()
    server.files.set('m.aero', bytes!)
    writeFileSync(at('m.aero'), bytes!)
    for (const input of [server.url('m.aero'), at('m.aero')]) {
      expect((await extract(input)).stderr).toContain('; checked against ')
      const { stdout } = await extract(input, '--slice', '0:1,:', '--json')
      const { proof } = JSON.parse(stdout)
      expect(proof).toMatchObject({ against: ['page hashes of weights.shard0'], pageBytes: 2048, unprovenBytes: 0 })
      expect(proof.pages).toBeLessThanOrEqual(2)
    }
  })

  it('of a format without such hashes says nothing about them', async () => {
    const [bytes] = (await convertToFiles(model, 'safetensors', { name: 'm.safetensors' })).values()
    server.files.set('m.safetensors', bytes!)
    const { stderr, requests } = await extract(server.url('m.safetensors'))
    expect([stderr.includes('checked'), requests]).toEqual([false, 2])
    expect(JSON.parse((await extract(server.url('m.safetensors'), '--json')).stdout).proof).toBeNull()
  })

  it('from a server without ranges is downloaded with a word', async () => {
    const [bytes] = (await convertToFiles(model, 'aero', { name: 'm.aero' })).values()
    server.files.set('m.aero', bytes!)
    server.behave.noRanges = true
    const { status, stderr, requests } = await extract(server.url('m.aero'))
    expect([status, requests]).toEqual([0, 1])
    expect(stderr).toContain('remote/no-ranges')
  })
})

describe('addresses in an index', () => {
  const based = (url: string) => (files: Map<string, Uint8Array>) => {
    const index = JSON.parse(new TextDecoder().decode(files.get(main)))
    index.format.version = [0, 2]
    index.base_url = url
    return new TextEncoder().encode(JSON.stringify(index))
  }

  const foreign = (): string => other.url('').replace(/\/$/, '')

  it.each(['local', 'remote'])('of another origin are asked only on request, where the index is %s', async (where) => {
    const files = await serve('aeroset', split, '', other)
    server.files.set(main, based(foreign())(files))
    writeFileSync(at(main), based(foreign())(files))
    const input = where === 'local' ? at(main) : server.url(main)
    const header = ['--header', 'Authorization: Bearer secret']
    const refused = await extract(input, ...header)
    expect([refused.status, refused.stderr.includes('--remote-parts fetches it')]).toEqual([1, true])
    const judged = await tare('verify', input)
    expect([judged.status, judged.stdout.includes('aeroset/remote')]).toEqual([1, true])
    const tooFar = 'private address; --remote-parts any fetches it'
    for (const allowed of [['--remote-parts'], ['--remote-parts', 'public']]) {
      const { status, stderr } = await extract(input, ...header, ...allowed)
      expect([status, stderr.includes(tooFar)]).toEqual([1, true])
    }
    const unread = await tare('verify', '--remote-parts', input)
    expect([unread.status, unread.stdout.includes(tooFar)]).toEqual([1, true])
    expect(other.seen).toEqual([])
    expect((await extract(input, ...header, '--remote-parts', 'any')).status).toBe(0)
    expect(other.seen.length).toBe(3)
    expect(other.seen.every(({ authorization }) => authorization === undefined)).toBe(true)
    expect(Buffer.compare(readFileSync(at('out.bin')), await bytesOf('layer.2.weight'))).toBe(0)
  })

  it('in the paths of parts are such addresses, too', async () => {
    const files = await serve('aeroset', split, '', other)
    const index = JSON.parse(new TextDecoder().decode(files.get(main)))
    for (const part of index.parts) part.path = other.url(part.path)
    writeFileSync(at(main), JSON.stringify(index))
    writeFileSync(at('index.aero'), files.get('index.aero')!)
    // What lies beside the index can be listed; the parts were not asked for.
    expect((await tare('inspect', '-q', at(main))).status).toBe(0)
    expect((await tare('verify', '-q', at(main))).status).toBe(1)
    expect((await tare('convert', '-q', at(main), '-o', at('m.aero'))).status).toBe(1)
    expect(other.seen).toEqual([])
    expect((await tare('verify', '-q', '--remote-parts', 'any', at(main))).status).toBe(0)
  })

  it('are taken for nothing else than what the option says', async () => {
    expect((await tare('verify', '--remote-parts=all', at(main))).status).toBe(2)
  })

  it('of the origin that the user typed are asked like the index itself', async () => {
    const files = await serve('aeroset', split, 'sub/')
    server.files.set(main, based(server.url('sub/'))(files))
    const { status, requests } = await extract(server.url(main), '--header', 'Authorization: Bearer secret')
    expect([status, requests]).toEqual([0, 4])
    expect(new Set(server.seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer secret']))
  })

  it('of that origin get the name and password in the address too', async () => {
    const files = await serve('aeroset', split, 'sub/')
    server.files.set(main, based(server.url('sub/'))(files))
    const { status } = await extract(server.url(main).replace('http://', 'http://me:100%@'))
    expect(status).toBe(0)
    const basic = `Basic ${Buffer.from('me:100%').toString('base64')}`
    expect(server.seen.map(({ authorization }) => authorization)).toEqual([basic, basic, basic, basic])
  })

  it('of servers without ranges are downloaded with a word', async () => {
    const files = await serve('aeroset', split, '', other)
    writeFileSync(at(main), based(other.url(''))(files))
    other.behave.noRanges = true
    const { status, stderr } = await extract(at(main), '--remote-parts', 'any')
    expect([status, stderr.split('remote/no-ranges').length - 1]).toEqual([0, 2])
  })
})

it.each(['Authorization: ☃', 'X: a\u0001', 'X: a\nY: b', 'No name: a', 'X'])(
  'a header that no request can carry is refused: %j',
  async (header) => {
    expect((await tare('inspect', server.url('m.aero'), '--header', header)).status).toBe(2)
    expect(server.seen).toEqual([])
  },
)

describe('data files in a folder below', () => {
  it('show their own bytes in a map, on disk and on a server', async () => {
    const folder = dirname(fixturePath('onnx', 'external-hand/model.onnx'))
    const data = readFileSync(join(folder, 'data', 'all.bin'))
    for (const name of ['model.onnx', 'whole.bin', 'data/all.bin']) {
      server.files.set(name, new Uint8Array(readFileSync(join(folder, name))))
    }
    const first = [...data.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    for (const input of [join(folder, 'model.onnx'), server.url('model.onnx')]) {
      const { status, stdout } = await tare('map', '--hex', input)
      const [, own = ''] = stdout.split('data/all.bin  ')
      expect([status, own.includes(first)], input).toEqual([0, true])
    }
  })
})

describe('paths in an index', () => {
  async function place(change: (path: string) => string): Promise<void> {
    const files = await convertToFiles(model, 'aeroset', { name: main, ...split })
    mkdirSync(at('set', 'parts'), { recursive: true })
    for (const [name, bytes] of files) writeFileSync(at('set', name), bytes)
    const index = JSON.parse(new TextDecoder().decode(files.get(main)))
    for (const part of index.parts) {
      const path = change(part.path)
      renameSync(at('set', part.path), at('set', path))
      part.path = path
    }
    writeFileSync(at('set', main), JSON.stringify(index))
  }

  it('may lead into folders below', async () => {
    await place((path) => `parts/${path}`)
    expect((await tare('verify', '-q', at('set'))).status).toBe(0)
    expect((await extract(at('set'))).status).toBe(0)
    expect(Buffer.compare(readFileSync(at('out.bin')), await bytesOf('layer.2.weight'))).toBe(0)
    const { status, stdout } = await tare('map', '--hex', '--depth', '1', at('set', main))
    expect([status, stdout.includes('part-003.aero')]).toEqual([0, true])
    // Every part shows its own first bytes.
    expect(stdout.split('41 45 52 4f').length - 1).toBe(6)
  })

  it('that lead out of the directory are followed only when that is allowed', async () => {
    await place((path) => `../${path}`)
    const refused = await tare('verify', at('set', main))
    expect([refused.status, refused.stdout.includes('aeroset/path')]).toEqual([1, true])
    expect((await tare('verify', '-q', '--lenient', at('set', main))).status).toBe(0)
    expect((await extract(at('set', main), '--lenient')).status).toBe(0)
  })

  it('that are links out of the directory are paths out of it', async () => {
    await place((path) => path)
    renameSync(at('set', 'part-000.aero'), at('elsewhere.aero'))
    symlinkSync(at('elsewhere.aero'), at('set', 'part-000.aero'))
    const refused = await tare('verify', at('set', main))
    expect([refused.status, refused.stdout.includes('aeroset/path')]).toEqual([1, true])
    expect((await tare('verify', '-q', '--lenient', at('set', main))).status).toBe(0)
    mkdirSync(at('copy'))
    expect((await tare('convert', '-q', at('set', main), '-o', at('copy', main))).status).toBe(1)
    expect((await tare('convert', '-q', '--lenient', at('set', main), '-o', at('copy', main))).status).toBe(0)
    expect((await tare('verify', '-q', at('copy', main))).status).toBe(0)
  })
})
