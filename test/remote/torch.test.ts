// PyTorch files on a server: their local headers lie between the weights, and listing them must not take a request for each.
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { fixturePath, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { useServer } from './server.js'

const server = useServer()
const at = useTempDir()

const model = sampleModel(
  Array.from({ length: 20 }, (_, i) => sampleTensor(`layer.${i}.weight`, 'f32', [64, 1024], i + 1)),
)
const truth = await model.tensors[7]!.data!.read!(0, 64 * 1024 * 4)
const [bytes] = (await convertToFiles(model, 'torch', { name: 'm.pt' })).values()

beforeEach(() => {
  vi.stubEnv('TARE_CACHE', at('cache'))
  server.files.set('m.pt', bytes!.slice())
})

const extract = () => tare('extract', server.url('m.pt'), 'layer.7.weight', '-o', at('w.bin'), '--no-cache')

/** Where the local header of a storage says something else than the directory: its name, or how long its extra field is. */
const headerOf = (key: string): number => {
  const name = Buffer.from(`/data/${key}`)
  return Buffer.from(bytes!).indexOf(name) - Buffer.from(bytes!).subarray(0, 64).indexOf('/data.pkl')
}

describe('a PyTorch file on a server', () => {
  it('is listed in two requests, as it is listed from a disk', async () => {
    const { stdout, status } = await tare('inspect', '--json', server.url('m.pt'), '--no-cache')
    expect([status, JSON.parse(stdout).tensors.length, server.seen.length]).toEqual([0, 20, 2])
  })

  it('gives a tensor with two further requests at most', async () => {
    expect((await extract()).status).toBe(0)
    expect(server.seen.length).toBeLessThanOrEqual(4)
    expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
  })

  it.each([
    ['another name', 30, 1, 'zip/local-differs'],
    ['an extra field of another length', 28, 64, 'zip/'],
  ])('whose local header has %s gives no tensor of that member', async (_, field, difference, code) => {
    const broken = bytes!.slice()
    broken[headerOf('7') + field]! += difference
    server.files.set('m.pt', broken)
    expect((await tare('inspect', server.url('m.pt'), '--no-cache')).status).toBe(0)
    const refused = await extract()
    expect([refused.status > 0, refused.stderr.includes(code)], refused.stderr).toEqual([true, true])
    expect((await tare('verify', server.url('m.pt'), '--no-cache')).status).toBe(1)
    const other = await tare('extract', server.url('m.pt'), 'layer.6.weight', '-o', at('w.bin'), '--no-cache')
    expect(other.status, other.stderr).toBe(0)
  })
})

it.each(presentCases('torch').flatMap(({ file }) => (file.endsWith('.json') ? [] : [file])))(
  '%s is listed alike from a server and from a disk',
  async (file) => {
    const path = fixturePath('torch', file)
    server.files.set(file, new Uint8Array(readFileSync(path)))
    const far = await tare('inspect', '--json', server.url(file), '--no-cache')
    const near = await tare('inspect', '--json', path)
    const tensors = (text: string) => (text.startsWith('{') ? JSON.parse(text).tensors : text)
    expect([far.status, tensors(far.stdout)]).toEqual([near.status, tensors(near.stdout)])
  },
)
