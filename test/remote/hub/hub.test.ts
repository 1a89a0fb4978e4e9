// Repositories of the hub, through the command line and against a stand-in: which commit is read, and where the token goes.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defaultHub, parseHubAddress } from '../../../src/remote/hub/address.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { commits, type HubFault, useHub } from './server.js'

const at = useTempDir()
const hub = useHub()
const [commit] = commits

const model = sampleModel(
  Array.from({ length: 4 }, (_, i) => sampleTensor(`layer.${i}.weight`, 'f32', [64, 512], i + 1)),
)
const truth = await model.tensors[2]!.data!.read!(0, 64 * 512 * 4)
const sharded = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', shardSize: 150_000 })

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (/^(HF|HUGGING)_/.test(name)) vi.stubEnv(name, undefined)
  vi.stubEnv('TARE_CACHE', at('cache'))
  vi.stubEnv('HF_HOME', at('hf'))
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  const files = new Map([
    ...sharded,
    ['sub/other.safetensors', [...sharded.values()][1]!],
    ['README.md', Buffer.from('#')],
  ])
  for (const kind of ['models', 'datasets']) hub.repositories.set(`${kind}/lab/tiny`, { commit, files })
})
afterEach(() => vi.unstubAllEnvs())

describe('addresses', () => {
  it.each([
    ['hf://lab/tiny', 'models', 'lab/tiny', 'main', ''],
    ['hf://lab/tiny@v1.0/a/b.gguf', 'models', 'lab/tiny', 'v1.0', 'a/b.gguf'],
    ['hf://datasets/lab/tiny@refs/pr/7/x', 'datasets', 'lab/tiny', 'refs/pr/7', 'x'],
    ['hf://lab/tiny@refs%2Fpr%2F7/x', 'models', 'lab/tiny', 'refs/pr/7', 'x'],
    ['https://huggingface.co/lab/tiny', 'models', 'lab/tiny', 'main', ''],
    ['https://huggingface.co/lab/tiny/tree/main/sub', 'models', 'lab/tiny', 'main', 'sub'],
    ['https://hf.co/lab/tiny/blob/v2/a%20b.gguf?download=true', 'models', 'lab/tiny', 'v2', 'a b.gguf'],
    ['https://huggingface.co/datasets/lab/tiny/resolve/refs/pr/1/x.npz', 'datasets', 'lab/tiny', 'refs/pr/1', 'x.npz'],
  ])('%s', (text, kind, repository, revision, path) => {
    expect(parseHubAddress(text, defaultHub)).toEqual({ kind, repository, revision, path })
  })

  it.each([
    'https://huggingface.co/docs/hub',
    'https://example.org/lab/tiny',
    'https://huggingface.co/lab/tiny/discussions/1',
  ])('%s is an address like any other', (text) => expect(parseHubAddress(text, defaultHub)).toBeUndefined())

  it.each(['hf://lab', 'hf://spaces/lab/tiny', 'hf://lab/tiny/../x'])('%s is refused', (text) => {
    expect(() => parseHubAddress(text, defaultHub)).toThrow(/wanted|program|\.\./)
  })
})

describe('a repository', () => {
  it.each(['hf://lab/tiny', 'hf://datasets/lab/tiny', 'hf://lab/tiny@refs/pr/1'])(
    '%s is read at its commit',
    async (input) => {
      const { status } = await tare('extract', input, 'layer.2.weight', '-o', at('w.bin'))
      expect(status).toBe(0)
      expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
      const asked = hub.seen.filter(({ on }) => on === 'hub').map(({ url }) => url)
      expect(asked.filter((url) => url.startsWith('/api/'))).toHaveLength(1)
      expect(asked.every((url) => url.startsWith('/api/') || url.includes(`/resolve/${commit}/`))).toBe(true)
    },
  )

  it('opens one file, a folder of files, and addresses from a browser', async () => {
    for (const input of [
      'hf://lab/tiny/sub/other.safetensors',
      'hf://lab/tiny/sub',
      `${hub.endpoint}/lab/tiny/tree/main/sub`,
    ]) {
      const { status, stdout } = await tare('inspect', '--json', input)
      expect([status, JSON.parse(stdout).tensors.length]).toEqual([0, 1])
    }
    const missing = await tare('inspect', 'hf://lab/tiny/none.gguf')
    expect([missing.status, missing.stderr.includes(`hf://lab/tiny@${commit}/none.gguf`)]).toEqual([2, true])
  })

  it('that got another name is found', async () => {
    hub.repositories.set('models/old/name', { commit, files: new Map(), movedTo: 'models/lab/tiny' })
    const { status } = await tare('inspect', 'hf://old/name')
    expect([status, hub.seen.at(-1)!.url.includes('lab/tiny')]).toEqual([0, true])
  })

  it.each(['', '{', 'null', '{"sha":"x","siblings":[]}', '{"sha":5}', `{"sha":"${commit}"}`])(
    'whose API answers %j is refused',
    async (answer) => {
      hub.answer = answer === '' ? ' ' : answer
      const { status, stderr } = await tare('inspect', 'hf://lab/tiny')
      expect([status > 0, stderr.includes('remote/bad-answer')]).toEqual([true, true])
    },
  )

  it('may not name files outside of itself', async () => {
    const siblings = ['../../secret.gguf', '/etc/passwd', 'a/../../b.gguf', 7].map((rfilename) => ({ rfilename }))
    hub.answer = JSON.stringify({ sha: commit, siblings })
    expect((await tare('inspect', 'hf://lab/tiny')).stderr).toContain('no such file or folder')
  })
})

describe('the token', () => {
  beforeEach(() => Object.assign(hub.repositories.get('models/lab/tiny')!, { token: 'hf_T0KEN' }))

  it.each(['environment', 'file'])('from the %s goes to the hub, and not where it redirects to', async (where) => {
    if (where === 'environment') vi.stubEnv('HF_TOKEN', 'hf_T0KEN')
    else {
      mkdirSync(at('hf'))
      writeFileSync(at('hf/token'), 'hf_T0KEN\n')
    }
    const { status, stdout, stderr } = await tare('extract', 'hf://lab/tiny', 'layer.2.weight', '-o', at('w.bin'))
    expect(status).toBe(0)
    expect(hub.seen.filter(({ on }) => on === 'store').length).toBeGreaterThan(0)
    for (const { on, authorization } of hub.seen)
      expect(authorization).toBe(on === 'hub' ? 'Bearer hf_T0KEN' : undefined)
    expect(stdout + stderr).not.toMatch(/hf_T0KEN|5ECRET/)
  })

  it('that is missing or wrong is asked for, and not shown', async () => {
    expect((await tare('inspect', 'hf://lab/tiny')).stderr).toContain('set HF_TOKEN')
    vi.stubEnv('HF_TOKEN', 'hf_WR0NG')
    const { status, stderr } = await tare('inspect', 'hf://lab/tiny')
    expect([status, stderr.includes('hf_WR0NG')]).toEqual([2, false])
  })
})

describe('the cache of the hub', () => {
  function fill(): void {
    const folder = at('hf/hub/models--lab--tiny')
    for (const [name, bytes] of sharded) {
      mkdirSync(dirname(`${folder}/blobs/${name}`), { recursive: true })
      writeFileSync(`${folder}/blobs/${name}`, bytes)
      mkdirSync(`${folder}/snapshots/${commit}`, { recursive: true })
      symlinkSync(`${folder}/blobs/${name}`, `${folder}/snapshots/${commit}/${name}`)
    }
    mkdirSync(`${folder}/refs`, { recursive: true })
    writeFileSync(`${folder}/refs/main`, commit)
  }

  it('is read where it has the file', async () => {
    fill()
    expect((await tare('extract', 'hf://lab/tiny', 'layer.2.weight', '-o', at('w.bin'))).status).toBe(0)
    expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
    expect(hub.seen.map(({ url }) => url)).toEqual(['/api/models/lab/tiny/revision/main'])
  })

  it('is all there is where the network is not to be used', async () => {
    vi.stubEnv('HF_HUB_OFFLINE', '1')
    expect((await tare('verify', 'hf://lab/tiny')).stderr).toContain('remote/unreachable')
    fill()
    expect((await tare('verify', 'hf://lab/tiny')).status).toBe(0)
    expect(hub.seen).toEqual([])
  })
})

describe('a request that fails', () => {
  const passing: readonly HubFault[] = ['reset', '500', 'slow-down', 'short-body']
  const others: readonly HubFault[] = ['expired', 'wrong-range', 'changed-etag']

  it.each([...passing, ...others])(
    'with %s ends with right bytes or a finding, whichever it is',
    async (fault) => {
      const runs = {
        extract: () => tare('extract', 'hf://lab/tiny', 'layer.2.weight', '-o', at('w.bin'), '--no-cache'),
        fetch: () => tare('fetch', 'hf://lab/tiny', '-o', at('home')),
      }
      for (const run of Object.values(runs)) {
        hub.seen.length = 0
        hub.fault = () => undefined
        expect((await run()).status).toBe(0)
        for (let turn = hub.seen.length - 1; turn >= 0; turn--) {
          for (const path of ['w.bin', 'home']) rmSync(at(path), { recursive: true, force: true })
          hub.seen.length = 0
          hub.fault = (index) => (index === turn ? fault : undefined)
          const { status, stderr } = await run()
          if (passing.includes(fault)) expect([turn, status], stderr).toEqual([turn, 0])
          if (status > 0) expect(stderr).toMatch(/\((remote|safetensors)\/[\w-]+\)/)
          if (existsSync(at('w.bin'))) expect(Buffer.compare(readFileSync(at('w.bin')), truth)).toBe(0)
          for (const [name, bytes] of sharded)
            if (existsSync(at('home', name))) expect(Buffer.compare(readFileSync(at('home', name)), bytes)).toBe(0)
        }
      }
    },
    120_000,
  )
})
