// The fuzzer itself: it repeats itself, its inputs differ from their seeds, and its oracles notice what is wrong.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const load = (name: string): Promise<object> => import(pathToFileURL(join(root, 'fuzz', name)).href)

interface Input {
  readonly bytes: Uint8Array
  readonly name: string
  readonly siblings?: ReadonlyMap<string, Uint8Array>
}
interface Seed extends Input {
  readonly pieces: readonly unknown[]
}
interface Random {
  pick<T>(list: readonly T[]): T
}
interface Fuzz {
  readonly Random: new (seed: number) => Random
  mutate(seed: Seed, others: readonly Seed[], random: Random): Input
  seedsOf(format: string): Promise<Seed[]>
  check(input: Input, format: string, random: Random): Promise<string>
  minimize(input: Input, format: string, promise: string): Promise<Uint8Array>
}
interface Target {
  readonly id: string
  seeds(): Promise<Seed[]>
  check(input: Input, random: Random): Promise<string>
}
interface PaceModule {
  readonly Pace: new (random: Random) => { readonly isNew: boolean; depthOf(outcome: string): number }
  readonly depths: { readonly open: number; readonly verify: number; readonly all: number }
}
let fuzz: Fuzz

beforeAll(async () => {
  expect(existsSync(join(root, 'dist', 'kit.js'))).toBe(true)
  fuzz = Object.assign(
    {},
    ...(await Promise.all(['random.mjs', 'mutate.mjs', 'corpus.mjs', 'oracles/format.mjs', 'minimize.mjs'].map(load))),
  )
})

describe('inputs', () => {
  it('are the same for the same seed, and others for another', async () => {
    const seeds = await fuzz.seedsOf('gguf')
    expect(seeds.length).toBeGreaterThan(10)
    const inputs = (seed: number): string[] => {
      const random = new fuzz.Random(seed)
      return Array.from({ length: 50 }, () =>
        Buffer.from(fuzz.mutate(random.pick(seeds), seeds, random).bytes).toString('base64'),
      )
    }
    expect(inputs(1)).toEqual(inputs(1))
    expect(inputs(1)).not.toEqual(inputs(2))
    expect(new Set(inputs(1)).size).toBeGreaterThan(40)
  })

  it.each(['aero', 'embd', 'mcf', 'npy', 'npz', 'oinf', 'onnx', 'primitiv', 'safetensors', 'torch'])(
    'of %s are made from files whose fields are known',
    async (format) => {
      const seeds = await fuzz.seedsOf(format)
      expect(seeds.some(({ pieces }) => pieces.length > 5)).toBe(true)
    },
  )
})

describe('targets', () => {
  it('have seeds that keep every promise, and inputs of theirs do', async () => {
    const { targets } = (await load('targets/index.mjs')) as { targets: Target[] }
    expect(targets.length).toBeGreaterThan(20)
    for (const { id, seeds, check } of targets) {
      if (['aero', 'npy', 'safetensors'].includes(id)) continue // each seed of formats is tried in CI, by the fuzzer itself
      const [first] = await seeds()
      expect(first, id).toBeDefined()
      await check(first!, new fuzz.Random(1))
    }
  })

  it('read documents that are whole, and refuse those that are cut', async () => {
    const { targets } = (await load('targets/index.mjs')) as { targets: Target[] }
    for (const id of ['delta', 'job', 'result', 'signature', 'statement', 'receipt', 'digests']) {
      const { seeds, check } = targets.find((target) => target.id === id)!
      for (const seed of await seeds()) {
        expect(await check(seed, new fuzz.Random(1)), `${id} ${seed.name}`).toBe('opened')
        const cut = { ...seed, bytes: seed.bytes.subarray(0, seed.bytes.length >> 1) }
        expect(await check(cut, new fuzz.Random(1)), `${id} ${seed.name}`).toBe('refused')
      }
    }
  })
})

describe('pace', () => {
  it('looks closely at outcomes that are new, and at some of the others', async () => {
    const { Pace, depths } = (await load('pace.mjs')) as PaceModule
    const pace = new Pace(new fuzz.Random(1))
    expect(pace.depthOf('a')).toBe(depths.all)
    expect(pace.isNew).toBe(true)
    const later = Array.from({ length: 2000 }, () => pace.depthOf('a'))
    expect(pace.isNew).toBe(false)
    for (const depth of [depths.open, depths.verify, depths.all])
      expect(later.filter((each) => each === depth).length).toBeGreaterThan(3)
    expect(later.filter((each) => each === depths.open).length).toBeGreaterThan(1000)
  })
})

describe('oracles', () => {
  it('hold for sound files', async () => {
    const seeds = await fuzz.seedsOf('npy')
    for (const seed of seeds.slice(0, 10)) await fuzz.check(seed, 'npy', new fuzz.Random(3))
  })

  it('notice a raw exception', async () => {
    const source = {
      bytes: new Uint8Array(8),
      name: 'x',
      get siblings(): never {
        throw new RangeError('raw')
      },
    }
    await expect(fuzz.check(source, 'npy', new fuzz.Random(1))).rejects.toThrow('raw')
  })

  it('make a failing input smaller', async () => {
    const seed = (await fuzz.seedsOf('npy'))[0]!
    // Nothing breaks, so nothing may be removed.
    expect(await fuzz.minimize({ ...seed, bytes: seed.bytes.subarray(0, 64) }, 'npy', 'no such promise')).toHaveLength(
      64,
    )
  })
})

describe('inputs that broke a promise once', () => {
  const corpus = join(root, 'fuzz', 'corpus')
  const kept = readdirSync(corpus, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: format }) => readdirSync(join(corpus, format)).map((name) => [format, name] as const))

  /** A file, or the index of a set with the files beside it. */
  function inputAt(path: string, name: string): Input {
    if (statSync(path).isFile()) return { bytes: new Uint8Array(readFileSync(path)), name }
    const siblings = new Map(readdirSync(path).map((each) => [each, new Uint8Array(readFileSync(join(path, each)))]))
    const index = [...siblings.keys()].find((each) => each.endsWith('.json'))!
    return { bytes: siblings.get(index)!, name: index, siblings }
  }

  it.each(kept)('%s/%s', async (format, name) => {
    const input = inputAt(join(corpus, format, name), name)
    // Which oracles are tried, and which formats it is converted to, is drawn: enough draws try all of them.
    for (let seed = 1; seed <= 48; seed++) await fuzz.check(input, format, new fuzz.Random(seed * 7919))
  })
})
