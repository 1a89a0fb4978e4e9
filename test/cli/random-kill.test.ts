// Verbs that write, killed at random calls that change files: what is there afterwards is the old file or the new one, the next run writes the
// new one, and nothing else is left. CI kills each verb a few times; TARE_KILLS=100 npx vitest run test/cli/random-kill.test.ts does it
// a hundred times each.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { bytesPayload, type Tensor } from '../../src/kit.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const at = useTempDir()
const command = join(import.meta.dirname, '../../dist/bundle/main.js')
const kills = Number(process.env.TARE_KILLS ?? 3)

function tare(args: readonly string[], env: Record<string, string> = {}): ReturnType<typeof spawnSync> {
  const hook = Object.keys(env).length > 0 ? ['-r', join(import.meta.dirname, 'kill-at.cjs')] : []
  return spawnSync(process.execPath, [...hook, command, ...args], {
    ...{ encoding: 'utf8', cwd: at('work'), env: { ...process.env, ...env } },
  })
}

const model = (seed: number) => sampleModel(['a', 'b', 'c'].map((name, i) => tensor(`${name}.weight`, seed + i)))

/** With values that can be quantized. */
function tensor(name: string, seed: number): Tensor {
  const values = Float32Array.from({ length: 700 * 256 }, (_, i) => Math.sin(seed * 17 + i))
  return { ...sampleTensor(name, 'f32', [700, 256]), data: bytesPayload(new Uint8Array(values.buffer)) }
}

beforeEach(async () => {
  mkdirSync(at('inputs'))
  for (const [name, seed] of [
    ['old', 1],
    ['new', 50],
  ] as const) {
    const [bytes] = (await convertToFiles(model(seed), 'safetensors')).values()
    writeFileSync(at('inputs', `${name}.safetensors`), bytes!)
  }
  const cut = readFileSync(at('inputs', 'new.safetensors')).subarray(0, -1000)
  writeFileSync(at('inputs', 'cut.safetensors'), cut)
  mkdirSync(at('work'))
  expect(
    tare(['delta', '../inputs/old.safetensors', '../inputs/new.safetensors', '-o', '../inputs/u.safetensors']).status,
  ).toBe(0)
})

/** A small generator, so that a run can be repeated. */
function randoms(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

interface Case {
  /** What writes the file that is there before. */
  readonly before: readonly string[]
  readonly run: readonly string[]
  readonly file: string
}

const from = (name: string): string => `../inputs/${name}.safetensors`
const cases: Record<string, Case> = {
  convert: {
    before: ['convert', from('old'), '-o', 'm.gguf'],
    run: ['convert', from('new'), '-o', 'm.gguf'],
    file: 'm.gguf',
  },
  quantize: {
    before: ['quantize', from('old'), '-o', 'm.gguf', '--method', 'q8_0'],
    run: ['quantize', from('new'), '-o', 'm.gguf', '--method', 'q8_0'],
    file: 'm.gguf',
  },
  edit: {
    before: ['convert', from('old'), '-o', 'm.gguf', '--header-slack', '4K'],
    run: ['edit', 'm.gguf', '--set', 'general.name=a name'],
    file: 'm.gguf',
  },
  'edit that rewrites': {
    before: ['convert', from('old'), '-o', 'm.gguf'],
    run: ['edit', 'm.gguf', '--set', 'general.name=a name', '--rewrite'],
    file: 'm.gguf',
  },
  repair: {
    before: ['convert', from('old'), '-o', 'm.safetensors'],
    run: ['repair', from('cut'), '-o', 'm.safetensors'],
    file: 'm.safetensors',
  },
  delta: {
    before: ['delta', from('new'), from('old'), '-o', 'u.safetensors'],
    run: ['delta', from('old'), from('new'), '-o', 'u.safetensors'],
    file: 'u.safetensors',
  },
  apply: {
    before: ['convert', from('old'), '-o', 'm.safetensors'],
    run: ['apply', from('old'), from('u'), '-o', 'm.safetensors'],
    file: 'm.safetensors',
  },
}

describe.skipIf(process.platform === 'win32')('killed at random', () => {
  test.each(Object.keys(cases))(
    '%s',
    (name) => {
      const { before, run, file } = cases[name]!
      const reset = (): Buffer => {
        rmSync(at('work'), { recursive: true })
        mkdirSync(at('work'))
        expect(tare(before).status).toBe(0)
        return readFileSync(at('work', file))
      }
      const old = reset()
      cpSync(at('work'), at('start'), { recursive: true })
      expect(tare(run, { COUNT_TO: at('calls') }).status).toBe(0)
      const wanted = readFileSync(at('work', file))
      expect(Buffer.compare(old, wanted)).not.toBe(0)
      const calls = Number(readFileSync(at('calls'), 'utf8').trim().split('\n').at(-1))
      expect(calls).toBeGreaterThan(5)
      const random = randoms(name.length * 7919 + kills)
      const seen = { old: 0, new: 0 }
      for (let i = 0; i < kills; i++) {
        rmSync(at('work'), { recursive: true })
        cpSync(at('start'), at('work'), { recursive: true })
        const call = 1 + Math.floor(random() * calls)
        const ended = tare(run, { KILL_AT: String(call) })
        expect(ended.signal, `call ${call}: ${ended.stderr}`).toBe('SIGKILL')
        const next = tare(['verify', file])
        // A file that was being changed in place is refused until an edit finishes what was begun.
        const isHalf = name === 'edit' && String(next.stderr).includes('edit/interrupted')
        if (isHalf) expect(tare(run).status, `call ${call}`).toBe(0)
        else expect(next.status, `call ${call}: ${next.stderr}`).toBe(0)
        const found = readFileSync(at('work', file))
        const isOld = Buffer.compare(found, old) === 0
        expect(isOld || Buffer.compare(found, wanted) === 0, `killed at call ${call} of ${calls}`).toBe(true)
        seen[isOld ? 'old' : 'new']++
        if (!name.startsWith('edit') || isOld) expect(tare(run).status, `call ${call}`).toBe(0)
        expect(Buffer.compare(readFileSync(at('work', file)), wanted), `call ${call}`).toBe(0)
        expect(readdirSync(at('work')), `call ${call}`).toEqual([file])
      }
      expect(seen.old + seen.new).toBe(kills)
    },
    3_600_000,
  )
})
