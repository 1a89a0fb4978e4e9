import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()

/** A safetensors file with the given tensors of f32. */
function writeModel(path: string, tensors: Readonly<Record<string, readonly number[]>>, metadata?: object): void {
  const header: Record<string, unknown> = metadata ? { __metadata__: metadata } : {}
  let offset = 0
  for (const [name, values] of Object.entries(tensors)) {
    header[name] = { dtype: 'F32', shape: [values.length], data_offsets: [offset, offset + 4 * values.length] }
    offset += 4 * values.length
  }
  const text = JSON.stringify(header)
  const padded = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(padded.byteLength))
  const data = Float32Array.from(Object.values(tensors).flat())
  writeFileSync(path, Buffer.concat([length, padded, Buffer.from(data.buffer)]))
}

const good = (): string => at('good.safetensors')
beforeEach(() => writeModel(good(), { 'a.w': [1, 2, 3], 'a.b': [4], head: [5, 6] }, { author: 'me\x1b[0m' }))

describe('inspect', () => {
  test('prints head, metadata and tensors, with everything escaped', async () => {
    const { status, stdout, stderr } = await tare('inspect', good())
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('3 with 6 parameters')
    expect(stdout).toContain('author  str  "me\\u001b[0m"')
    expect(stdout).toMatch(/a\.w +f32 +\[3\] +12 B +0x[0-9a-f]+\n/)
    expect(stdout).not.toContain('\x1b')
  })

  test('chooses, sorts and limits', async () => {
    const names = async (...flags: string[]): Promise<string[]> => {
      const { stdout } = await tare('inspect', '--json', ...flags, good())
      return JSON.parse(stdout).tensors.map((tensor: { name: string }) => tensor.name)
    }
    expect(await names()).toEqual(['a.w', 'a.b', 'head'])
    expect(await names('--sort', 'size')).toEqual(['a.w', 'head', 'a.b'])
    expect(await names('--sort', 'name')).toEqual(['a.b', 'a.w', 'head'])
    expect(await names('--tensors', 'a.*')).toEqual(['a.w', 'a.b'])
    expect(await names('--tensors', 'a.b', '--tensors', 'h*', '--limit', '1')).toEqual(['a.b'])
    expect((await tare('inspect', '--limit', '1', good())).stdout).toContain('… and 2 more')
  })

  test('shows metadata alone, a tree, or statistics', async () => {
    expect(JSON.parse((await tare('inspect', '--json', '--metadata', good())).stdout)).not.toHaveProperty('tensors')
    expect((await tare('inspect', '--tree', good())).stdout).toMatch(/ {2}a +2 tensors +4 +16 B\n {4}w +f32/)
    const { tensors } = JSON.parse((await tare('inspect', '--json', '--stats', good())).stdout)
    expect(tensors[0].stats).toMatchObject({ min: 1, max: 3, mean: 2 })
  })
})

describe('verify', () => {
  test('a success says what was checked', async () => {
    const { status, stdout } = await tare('verify', good())
    expect(status).toBe(0)
    expect(stdout).toMatch(/good\.safetensors: ok — safetensors, 3 tensors, .* checked\n$/)
  })

  test('weights count as unread only where the format leaves them so', async () => {
    for (const name of ['m.aero', 'm.npz']) await tare('convert', good(), '-o', at(name))
    const { stdout } = await tare('verify', '--control', at('m.aero'), at('m.npz'))
    expect(stdout).toMatch(/m\.aero: ok — .* checked, weights not read\n.*m\.npz: ok — .* checked\n$/)
  })

  test('a finding has its code, place and path; the run goes on', async () => {
    truncateSync(good(), 100)
    writeModel(at('b.safetensors'), { x: [1] })
    const { status, stdout } = await tare('verify', good(), at('b.safetensors'))
    expect(status).toBe(1)
    expect(stdout).toMatch(/^error .*good\.safetensors: the file ends early: 100 of at least \d+ bytes/)
    expect(stdout).toMatch(/^error safetensors\/[a-z-]+ @ 0x[0-9a-f]+ .*: /m)
    expect(stdout).toContain('b.safetensors: ok')
  })

  test('JSON names the input as it was given', async () => {
    mkdirSync(at('model'))
    copyFileSync(good(), at('model', 'model.safetensors'))
    const { stdout } = await tare('verify', '--json', at('model'))
    expect(JSON.parse(stdout)).toMatchObject({ file: at('model'), format: 'safetensors', verdict: 'ok' })
  })
})

describe('hash', () => {
  test('--check finds what changed, from text and from JSON', async () => {
    writeFileSync(at('text'), (await tare('hash', good())).stdout)
    writeFileSync(at('json'), (await tare('hash', '--json', '--algorithm', 'sha256', good())).stdout)
    for (const record of [at('text'), at('json')]) {
      expect(await tare('hash', '--check', record, good())).toMatchObject({ status: 0, stderr: '' })
    }
    writeModel(at('new.safetensors'), { 'a.w': [1, 2, 3], 'a.b': [0], tail: [5, 6] })
    for (const record of [at('text'), at('json')]) {
      const { status, stdout } = await tare('hash', '--check', record, at('new.safetensors'))
      expect(status).toBe(1)
      expect(stdout.split('\n').slice(0, 3)).toEqual(['changed  a.b', 'added  tail', 'missing  head'])
    }
  })

  test('--check goes on behind an input that it has no digests for', async () => {
    copyFileSync(good(), at('other.safetensors'))
    copyFileSync(good(), at('unknown.safetensors'))
    writeFileSync(at('text'), (await tare('hash', good(), at('other.safetensors'))).stdout)
    const ran = await tare('hash', '--check', at('text'), at('unknown.safetensors'), good())
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining('has no digests for it')])
    expect(ran.stdout).toContain('good.safetensors: same')
  })
})

describe('map', () => {
  test('accounts for every byte', async () => {
    const { stdout } = await tare('map', '--json', good())
    const [file] = JSON.parse(stdout).files
    const sum = file.extents.reduce((total: number, { length }: { length: number }) => total + length, 0)
    expect(sum).toBe(file.size)
  })

  test('shows the field at an offset, with its bytes', async () => {
    const { status, stdout } = await tare('map', '--at', '0x3', '--hex', good())
    expect(status).toBe(0)
    expect(stdout).toContain('header_length')
    expect(stdout).toMatch(/0x0 {2}[0-9a-f]{2} 00 00 00 00 00 00 00/)
  })

  test('goes on behind a file that ends before the offset', async () => {
    writeModel(at('long.safetensors'), { w: new Array(100).fill(1) })
    const { status, stdout, stderr } = await tare('map', '--at', '400', good(), at('long.safetensors'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('good.safetensors: it has only')])
    expect(stdout).toContain('data["w"]')
  })

  test('a broken file is mapped as far as it goes, with status 1', async () => {
    writeFileSync(at('broken.safetensors'), readFileSync(good()).subarray(0, 50))
    const { status, stdout, stderr } = await tare('map', '--from', 'safetensors', at('broken.safetensors'))
    expect(status).toBe(1)
    expect(stdout).toContain('header_length')
    expect(stderr).toContain('broken.safetensors')
  })
})

test('stats and show print something about every tensor', async () => {
  for (const verb of ['stats', 'show']) {
    const { status, stdout } = await tare(verb, good())
    expect(status).toBe(0)
    for (const name of ['a.w', 'a.b', 'head']) expect(stdout).toContain(name)
    expect((await tare(verb, '--tensors', 'head', good())).stdout).not.toContain('a.w')
    expect(JSON.parse((await tare(verb, '--json', good())).stdout)).toMatchObject({
      file: good(),
      format: 'safetensors',
    })
  }
})

describe('extract', () => {
  test('bare bytes, an NPY file, a slice', async () => {
    expect((await tare('extract', good(), 'a.w', '-o', at('w.bin'))).status).toBe(0)
    expect(readFileSync(at('w.bin'))).toEqual(Buffer.from(Float32Array.of(1, 2, 3).buffer))
    expect((await tare('extract', good(), 'a.w', '-o', at('w.npy'), '--as', 'F64', '--slice', '1:')).status).toBe(0)
    const npy = readFileSync(at('w.npy'))
    expect(npy.subarray(1, 6).toString()).toBe('NUMPY')
    expect(npy.subarray(-16)).toEqual(Buffer.from(Float64Array.of(2, 3).buffer))
  })

  test('a tensor that is not there, an output that cannot be', async () => {
    const missing = await tare('extract', good(), 'a', '-o', at('x.bin'))
    expect(missing.status).toBe(2)
    expect(missing.stderr).toContain('did you mean a.w, a.b')
    expect((await tare('extract', good(), 'a.w', '-o', good().concat('/x.bin'))).status).toBe(2)
    const self = await tare('extract', good(), 'a.w', '-o', good())
    expect([self.status, self.stderr]).toEqual([2, expect.stringContaining('this is the input itself')])
    expect(readdirSync(at())).toEqual(['good.safetensors'])
  })

  test.each(['x.png', 'x.svg'])('%s is for `tare picture`', async (name) => {
    const { status, stderr } = await tare('extract', good(), 'a.w', '-o', at(name))
    expect([status, stderr]).toEqual([2, expect.stringContaining(`tare picture ${good()} a.w -o ${at(name)}`)])
    expect(readdirSync(at())).toEqual(['good.safetensors'])
  })

  test.each(['x.npz', 'x.gguf', 'x.onnx'])('no raw bytes under the name %s', async (name) => {
    const { status, stderr } = await tare('extract', good(), 'a.w', '-o', at(name))
    expect([status, stderr]).toEqual([2, expect.stringContaining('tare convert')])
    expect(readdirSync(at())).toEqual(['good.safetensors'])
  })
})

describe('convert', () => {
  test('writes the file and says what it did on standard error', async () => {
    const { status, stdout, stderr } = await tare(
      'convert',
      good(),
      '-o',
      at('out.safetensors'),
      '--cast',
      'F16',
      '--exclude',
      'head',
    )
    expect([status, stdout]).toEqual([0, ''])
    expect(stderr).toContain('cast 2 tensors f32 → f16')
    expect(stderr).toContain('drop tensor head')
    const { tensors } = JSON.parse((await tare('inspect', '--json', at('out.safetensors'))).stdout)
    expect(tensors.map((tensor: { dtype: string }) => tensor.dtype)).toEqual(['f16', 'f16'])
  })

  test('--dry-run shows the plan and writes nothing', async () => {
    const { status, stdout } = await tare('convert', good(), '-o', at('out.safetensors'), '--cast', 'F16', '--dry-run')
    expect(status).toBe(0)
    expect(stdout).toMatch(/tensor +a\.w +cast +f32 → f16/)
    expect(existsSync(at('out.safetensors'))).toBe(false)
    const plan = JSON.parse((await tare('convert', good(), '--to', 'safetensors', '--dry-run', '--json')).stdout)
    expect(plan).toMatchObject({ file: good(), format: 'safetensors', target: 'safetensors', loss: 'none' })
  })

  test('several inputs go into a directory', async () => {
    copyFileSync(good(), at('other.safetensors'))
    mkdirSync(at('out'))
    const { status } = await tare('convert', good(), at('other.safetensors'), '-o', at('out'), '--to', 'safetensors')
    expect(status).toBe(0)
    expect(readdirSync(at('out')).sort()).toEqual(['good.safetensors', 'other.safetensors'])
  })

  test('never over the input, nor over anything with --no-overwrite', async () => {
    const before = readFileSync(good())
    expect((await tare('convert', good(), '-o', good())).status).toBe(2)
    writeFileSync(at('old.safetensors'), 'old')
    expect((await tare('convert', good(), '-o', at('old.safetensors'), '--no-overwrite')).status).toBe(2)
    expect(readFileSync(good())).toEqual(before)
    expect(readFileSync(at('old.safetensors'), 'utf8')).toBe('old')
  })

  test('an output whose name says nothing needs --to', async () => {
    const { status, stderr } = await tare('convert', good(), '-o', at('out.xyz'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('add --to with one of')])
  })

  test.skipIf(!existsSync('/dev/full'))('a full disk is status 2', async () => {
    const { status, stderr } = await tare('convert', good(), '-o', '/dev/full', '--to', 'safetensors')
    expect([status, stderr]).toEqual([2, expect.stringContaining('io/no-space')])
  })

  test('a broken input is status 1 and leaves no output', async () => {
    truncateSync(good(), 100)
    expect((await tare('convert', good(), '-o', at('out.safetensors'))).status).toBe(1)
    expect(readdirSync(at())).toEqual(['good.safetensors'])
  })
})
