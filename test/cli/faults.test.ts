// A system that fails: no space, a read-only directory, too few descriptors, too little memory, two writers. The old file stays, or the new
// one is complete; nothing is left; the exit status says that the run could not be done.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { bytesPayload, type Tensor } from '../../src/kit.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const at = useTempDir()
const command = join(import.meta.dirname, '../../dist/bundle/main.js')
const tare = `${JSON.stringify(process.execPath)} ${JSON.stringify(command)}`

const shell = (script: string): { status: number | null; stderr: string; stdout: string } =>
  spawnSync('bash', ['-c', script], { cwd: at('work'), encoding: 'utf8' })

/** A mount of its own, where the system lets us. */
function inMount(options: string, script: string): ReturnType<typeof shell> {
  writeFileSync(at('work', 'script.sh'), `mount -t tmpfs ${options} tmpfs disk\n${script}\n`)
  return shell('unshare -rm bash script.sh')
}

const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-rm', 'bash', '-c', 'mount -t tmpfs tmpfs /mnt'], { encoding: 'utf8' }).status === 0

/** Bytes that cannot be packed. */
function noise(name: string, seed: number): Tensor {
  const bytes = new Uint8Array(700 * 1024)
  let state = seed * 40503
  for (let i = 0; i < bytes.byteLength; i++) {
    state = (state + 0x6d2b79f5) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    bytes[i] = (mixed ^ (mixed >>> 14)) >>> 8
  }
  return { ...sampleTensor(name, 'i8', [700, 1024]), data: bytesPayload(bytes) }
}

beforeEach(async () => {
  mkdirSync(at('work', 'disk'), { recursive: true })
  for (const [name, seed] of [
    ['old', 1],
    ['new', 50],
  ] as const) {
    const tensors = [1, 2, 3].map((i) => noise(`w${i}`, seed + i))
    const [bytes] = (await convertToFiles(sampleModel(tensors), 'safetensors')).values()
    writeFileSync(at('work', `${name}.safetensors`), bytes!)
  }
  expect(shell(`${tare} delta -q old.safetensors new.safetensors -o u.safetensors`).status).toBe(0)
})

const verbs: Record<string, string> = {
  convert: 'convert new.safetensors -o disk/m.safetensors',
  apply: 'apply old.safetensors u.safetensors -o disk/m.safetensors',
  delta: 'delta old.safetensors new.safetensors -o disk/m.safetensors',
}

describe.skipIf(!canMount)('no space', () => {
  test.each(Object.keys(verbs))('%s leaves what was there, and nothing else', (verb) => {
    const ran = inMount(
      '-o size=1m',
      `touch disk/other && head -c 500000 old.safetensors > disk/m.safetensors && TMPDIR=disk ${tare} ${verbs[verb]}; echo "status $?"; ls -A disk | tr '\\n' ' '; head -c 500000 old.safetensors | cmp - disk/m.safetensors && echo same`,
    )
    expect(ran.stdout, ran.stderr).toMatch(/status 2/)
    expect(ran.stdout).toMatch(/\nm\.safetensors other same/)
    expect(ran.stderr).toMatch(/io\/no-space/)
  })

  test.each(Object.keys(verbs))('%s to a read-only directory', (verb) => {
    const ran = inMount('-o ro', `${tare} ${verbs[verb]}; echo "status $?"; ls -A disk`)
    expect(ran.stdout, ran.stderr).toBe('status 2\n')
  })
})

describe.skipIf(process.platform === 'win32')('limits', () => {
  test.each(Object.keys(verbs))('%s with a quota: the limit for the size of a file', (verb) => {
    writeFileSync(at('work', 'disk', 'm.safetensors'), 'old')
    const ran = shell(`ulimit -f 1000; ${tare} ${verbs[verb]}`)
    expect(ran.status, ran.stderr).toBe(2)
    expect(readdirSync(at('work', 'disk'))).toEqual(['m.safetensors'])
    expect(readFileSync(at('work', 'disk', 'm.safetensors'), 'utf8')).toBe('old')
  })

  test.each(Object.keys(verbs))('%s with few descriptors works, or says that they are too few', (verb) => {
    for (const count of [20, 22, 24, 26, 30, 40]) {
      const ran = shell(`ulimit -n ${count}; ${tare} ${verbs[verb]}`)
      // Node itself does not start with too few.
      if (ran.stderr.includes('node::') || ran.status === 134) continue
      expect([0, 2], `${count}: ${ran.stderr}`).toContain(ran.status)
      const left = readdirSync(at('work', 'disk'))
      expect(left.filter((name) => name.startsWith('.'))).toEqual([])
      if (ran.status === 0) expect(left).toEqual(['m.safetensors'])
    }
  })

  test('out of memory: the old file stays, and the next run clears up', () => {
    const names = Array.from({ length: 60_000 }, (_, i) => [`a tensor with a rather long name ${i}`, i] as const)
    const header = JSON.stringify(
      Object.fromEntries(names.map(([name, i]) => [name, { dtype: 'I8', shape: [1], data_offsets: [i, i + 1] }])),
    ).padEnd(8)
    const json = Buffer.from(header.padEnd(Math.ceil(header.length / 8) * 8))
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(json.byteLength))
    writeFileSync(at('work', 'many.safetensors'), Buffer.concat([length, json, Buffer.alloc(names.length)]))
    writeFileSync(at('work', 'disk', 'm.gguf'), 'old')
    const ran = shell(`NODE_OPTIONS=--max-old-space-size=24 ${tare} convert many.safetensors -o disk/m.gguf`)
    expect(ran.status).not.toBe(0)
    expect(readFileSync(at('work', 'disk', 'm.gguf'), 'utf8')).toBe('old')
    expect(shell(`${tare} convert many.safetensors -o disk/m.gguf`).status).toBe(0)
    expect(readdirSync(at('work', 'disk'))).toEqual(['m.gguf'])
  }, 120_000)

  test('two writers: one of the two files, complete', () => {
    for (let i = 0; i < 3; i++) {
      shell(
        `${tare} convert -q old.safetensors -o disk/m.gguf & ${tare} convert -q new.safetensors -o disk/m.gguf & wait`,
      )
      expect(readdirSync(at('work', 'disk'))).toEqual(['m.gguf'])
      const hash = (file: string): string =>
        shell(`${tare} hash ${file} --json`).stdout.match(/"fingerprint":"(\w+)"/)![1]!
      expect([hash('old.safetensors'), hash('new.safetensors')]).toContain(hash('disk/m.gguf'))
    }
    expect(existsSync(at('work', 'disk', 'm.gguf'))).toBe(true)
  }, 120_000)
})
