// Every verb of the table, on a model at each kind of address as on the same model here. A new verb fails until it is added.
import { generateKeyPairSync } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Console, type Stream } from '../../src/cli/console/console.js'
import { execute } from '../../src/cli/run.js'
import { verbs } from '../../src/cli/verbs/index.js'
import { writeModel } from '../../src/node.js'
import { ended, program, useQueue } from '../node/queue/real-queue.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { fixturePath } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { commits, useHub } from './hub/server.js'
import { useEnvironment } from './s3/command.js'
import { bytesOf } from './s3/content.js'
import { useS3 } from './s3/server.js'
import { useServer } from './server.js'

const at = useTempDir()
const store = useS3()
const hub = useHub()
const web = useServer()
const run = useEnvironment(store, at)
const queue = useQueue((...names) => at(...(names as [string])))
const root = resolve(import.meta.dirname, '../..')
const hasPage = existsSync(join(root, 'dist/viewer/index.html'))

/** Where a model is, and where what is made of it goes. */
interface Side {
  in(name: string): string
  out(name: string): string
  /** An output as bytes. */
  read(name: string): Promise<Buffer>
}

const here: Side = {
  in: (name) => at('in', name),
  out: (name) => at('out', name),
  read: async (name) => readFileSync(at('out', name)),
}
const sides: Readonly<Record<string, Side>> = {
  's3://': {
    in: (name) => `s3://models/in/${name}`,
    out: (name) => `s3://models/out/${name}`,
    read: async (name) => bytesOf(store.objects.get(`out/${name}`)!.content),
  },
  'hf://': { ...here, in: (name) => `hf://lab/in/${name}`, out: (name) => at('far', name), read: readFar },
  'http://': { ...here, in: (name) => web.url(`in/${name}`), out: (name) => at('far', name), read: readFar },
}

async function readFar(name: string): Promise<Buffer> {
  return readFileSync(at('far', name))
}

/** What the command says, with the same names for the same files. */
async function tare(side: Side, ...words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await run(...words)
  expect(`${status} ${stderr}`).toMatch(/^0 /)
  return sameNames(side, stdout)
}

const sameNames = (side: Side, text: string): string =>
  text
    .replaceAll(/hf:\/\/lab\/in(@\w+)?\//g, 'IN/')
    .replaceAll(side.in('').replace(/\/?$/, '/'), 'IN/')
    .replaceAll(side.out('').replace(/\/?$/, '/'), 'OUT/')

const tensor = 'layer.1.weight'

/** What comes out of each verb: what it prints, and what it writes. */
const walks: Readonly<Record<string, (side: Side) => Promise<unknown>>> = {
  inspect: (side) => tare(side, 'inspect', '--all', side.in('m.safetensors'), side.in('bert.weights')),
  async view(side) {
    if (!hasPage) return 'not built'
    const stop = new AbortController()
    let said = ''
    const console = new Console(
      captured((text) => (said += text)),
      captured(() => {}),
    )
    const status = execute(['view', '--no-open', '--json', side.in('m.safetensors')], '1.2.3', console, stop.signal)
    while (!said.includes('\n')) await setTimeout(5)
    const { address, files } = JSON.parse(said)
    const answer = await fetch(new URL(files[0].path, address))
    const bytes = Buffer.from(await answer.arrayBuffer())
    stop.abort()
    return [await status, files[0].name, bytes.equals(readFileSync(here.in('m.safetensors')))]
  },
  show: (side) => tare(side, 'show', side.in('m.safetensors')),
  stats: (side) => tare(side, 'stats', '--json', side.in('m.safetensors')),
  picture: made('p.png', (side) => ['picture', side.in('m.safetensors'), tensor]),
  map: (side) => tare(side, 'map', side.in('m.safetensors')),
  verify: (side) => tare(side, 'verify', '--json', side.in('m.safetensors'), side.in('bert.weights')),
  async hash(side) {
    const digests = await tare(side, 'hash', side.in('m.safetensors'))
    const list = (await run('hash', '--manifest', 'sha256sum', side.in('m.safetensors'))).stdout
    writeFileSync(at('list'), list)
    const checked = await tare(side, 'hash', '--check', at('list'))
    return [digests, sameNames(side, list), checked]
  },
  async diff(side) {
    const { status, stdout } = await run('diff', side.in('m.safetensors'), side.in('next.safetensors'))
    return [status, sameNames(side, stdout)]
  },
  async sign(side) {
    const flags = ['--key', at('key.pem'), '--tensors', '-o', side.out('m.sig')]
    await tare(side, 'sign', side.in('m.safetensors'), ...flags)
    const { dsseEnvelope } = JSON.parse((await side.read('m.sig')).toString())
    // Verified here as well as there: what is signed is the same.
    const verified = []
    for (const each of [side, here])
      verified.push(
        await tare(side, 'verify', each.in('m.safetensors'), '--key', at('key.pub'), '--signature', side.out('m.sig')),
      )
    return [Buffer.from(dsseEnvelope.payload, 'base64').toString(), verified.map((text) => text.replace(/^.*m\./, ''))]
  },
  convert: made('m.gguf', (side) => ['convert', side.in('m.safetensors'), '--allow-loss', '--cast', 'f16']),
  quantize: made('q.gguf', (side) => ['quantize', side.in('flat.safetensors'), '--method', 'q8_0']),
  extract: made('w.npy', (side) => ['extract', side.in('m.safetensors'), tensor]),
  edit: made('e.safetensors', (side) => ['edit', side.in('m.safetensors'), '--set', 'name=edited']),
  repair: made('r.safetensors', (side) => ['repair', side.in('half.safetensors')]),
  async pack(side) {
    writeFileSync(at('model.json'), JSON.stringify({ tensors: { gain: [1, 0.5, 0.25] } }))
    return made('packed.npz', () => ['pack', at('model.json')])(side)
  },
  async fetch(side) {
    if (side === here) return contentOf(at('in/set'))
    await tare(
      side,
      'fetch',
      side.in(side === sides['http://'] ? 'set/model.safetensors.index.json' : 'set/'),
      '-o',
      at('home'),
    )
    return contentOf(at('home'))
  },
  async delta(side) {
    await made('d.tare', (each) => ['delta', each.in('m.safetensors'), each.in('next.safetensors')])(side)
    return side.read('d.tare')
  },
  async apply(side) {
    await tare(side, 'delta', here.in('m.safetensors'), here.in('next.safetensors'), '-o', at('in/d.tare'))
    serve('d.tare')
    return made('n.safetensors', (each) => ['apply', each.in('m.safetensors'), each.in('d.tare')])(side)
  },
  async plan(side) {
    await planned(side)
    const { inputs, files } = JSON.parse(readFileSync(at('job.json'), 'utf8'))
    return [inputs.length, files.map(({ size }: { readonly size: number }) => size)]
  },
  async work(side) {
    await planned(side)
    const { tasks, made } = JSON.parse(await tare(side, 'work', '--json', at('job.json')))
    return tasks > 0 && made === tasks
  },
  async status(side) {
    await planned(side)
    const state = async () => JSON.parse((await run('status', '--json', at('job.json'))).stdout)
    const before = await state()
    await tare(side, 'work', at('job.json'))
    const { done, tasks, missing } = await state()
    return [before.done, done === tasks, missing]
  },
  async finish(side) {
    await planned(side)
    await tare(side, 'work', at('job.json'))
    await tare(side, 'finish', at('job.json'))
    return side.read('j.gguf')
  },
  async worker(side) {
    if (!program) return 'no server for a queue is installed'
    const worker = queue.worker('--idle', '30')
    const convert = ['convert', side.in('m.safetensors'), '-o', side.out('k.gguf'), '--allow-loss', '--cast', 'f16']
    expect(await queue.run(...convert, '-q')).toMatchObject({ status: 0 })
    worker.kill('SIGTERM')
    await ended(worker)
    return side.read('k.gguf')
  },
  tokenize: (side) => tare(side, 'tokenize', '--json', side.in('bert.weights'), 'the foxes run'),
  embed: (side) => tare(side, 'embed', '--json', side.in('bert.weights'), 'the foxes run'),
}

/** A verb that writes an output, as that and as what is printed. */
function made(name: string, words: (side: Side) => readonly string[]): (side: Side) => Promise<unknown> {
  return async (side) => {
    const said = await tare(side, ...words(side), '-o', side.out(name))
    return [said, await side.read(name)]
  }
}

async function planned(side: Side): Promise<void> {
  const options = ['--allow-loss', '--cast', 'f16', '--part-size', '4096', '-o', at('job.json')]
  await tare(side, 'plan', side.in('m.safetensors'), side.out('j.gguf'), ...options)
}

const captured = (write: (text: string) => unknown): Stream =>
  ({ write, on: () => {}, off: () => {}, once: () => {}, isTTY: false, columns: 120 }) as unknown as Stream

const contentOf = (folder: string): unknown =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .map((name) => [name, readFileSync(join(folder, name))]),
  )

/** Puts a file that is here to all the places. */
function serve(name: string): void {
  const bytes = readFileSync(at('in', name))
  store.put(`in/${name}`, bytes)
  web.files.set(`in/${name}`, bytes)
  hub.repositories.get('models/lab/in')!.files.set(name, bytes)
}

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const shapes = [[4, 512], [32, 64], [5]]
const model = (seed: number) =>
  sampleModel(shapes.map((shape, i) => sampleTensor(`layer.${i}.weight`, 'f32', shape, seed * i)))

beforeEach(async () => {
  for (const [name, value] of [
    ['HF_ENDPOINT', hub.endpoint],
    ['HF_HOME', at('hf')],
  ])
    vi.stubEnv(name!, value)
  hub.repositories.set('models/lab/in', { commit: commits[0], files: new Map() })
  for (const folder of ['in/set', 'out', 'far']) mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(at('key.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  const [bytes] = [...(await convertToFiles(model(1), 'safetensors')).values()]
  const [next] = [...(await convertToFiles(model(2), 'safetensors')).values()]
  writeFileSync(at('in/m.safetensors'), bytes!)
  writeFileSync(at('in/next.safetensors'), next!)
  writeFileSync(at('in/half.safetensors'), bytes!.subarray(0, bytes!.byteLength - 10))
  cpSync(fixturePath('embd', 'sect-tiny-bert-1layer.weights'), at('in/bert.weights'))
  const flat = Float32Array.from({ length: 2048 }, (_, i) => Math.sin(i))
  await writeModel({ tensors: { w: { shape: [32, 64], data: flat } } }, at('in/flat.safetensors'))
  const set = await convertToFiles(model(1), 'safetensors', { name: 'model.safetensors', shardSize: 8500 })
  for (const [name, bytes] of set) writeFileSync(at('in/set', name), bytes)
  for (const name of readdirSync(at('in'), { recursive: true, encoding: 'utf8' }))
    if (dirname(name) !== '.' || name !== 'set') serve(name.replaceAll('\\', '/'))
})

it('knows all verbs', () => {
  expect(Object.keys(walks).toSorted()).toEqual(verbs.map(({ name }) => name).toSorted())
})

describe.each(Object.keys(sides))('at %s', (kind) => {
  it.each(Object.keys(walks))('%s does what it does here', async (verb) => {
    const expected = await walks[verb]!(here)
    expect(await walks[verb]!(sides[kind]!)).toEqual(expected)
  })
})
