// What a person sees first, tables in other forms, and files that end early.
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { useTempDir } from '../../../node/temp-dir.js'
import { fixturePath, fixturesRoot } from '../../../support/fixtures.js'
import { runCli as tare } from '../../run-cli.js'

const at = useTempDir()
const layers = 6

/** Two matrices for each layer, all of f32. */
function writeModel(path: string): void {
  const header: Record<string, unknown> = {}
  let offset = 0
  const names = Array.from({ length: layers }, (_, i) => [`layers.${i}.q`, `layers.${i}.k`]).flat()
  for (const name of ['embed', ...names]) {
    header[name] = { dtype: 'F32', shape: [4, 4], data_offsets: [offset, offset + 64] }
    offset += 64
  }
  const json = JSON.stringify(header)
  const padded = json.padEnd(Math.ceil(json.length / 8) * 8)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(padded.length))
  writeFileSync(path, Buffer.concat([length, Buffer.from(padded), Buffer.alloc(offset)]))
}

const model = (): string => at('model.safetensors')
beforeEach(() => writeModel(model()))

test('the architecture of the configuration beside the weights comes first', async () => {
  mkdirSync(at('llama'))
  writeModel(at('llama', 'model.safetensors'))
  const config = { model_type: 'llama', num_hidden_layers: 6, hidden_size: 4, num_attention_heads: 2 }
  writeFileSync(at('llama', 'config.json'), JSON.stringify({ ...config, max_position_embeddings: 1024 }))
  const { stdout } = await tare('inspect', at('llama'))
  expect(stdout.split('\n').slice(1, 3)).toEqual([
    '  model    llama, 6 layers, hidden 4, 2 heads, context 1024',
    '  memory   832 B for the weights, 96.0 KiB for a KV cache of 1,024 tokens (f16; 96.0 KiB per 1,024)',
  ])
  expect(stdout).toContain('file config.json')
  expect(stdout).not.toContain('{"bytes"')
  const { summary } = JSON.parse((await tare('inspect', '--json', at('llama'))).stdout)
  expect(summary).toMatchObject({ architecture: { layers: 6, headDim: 2 }, parameters: 208, weightBytes: 832 })
})

test('layers with a window are told apart in the memory of the cache', async () => {
  mkdirSync(at('gemma'))
  writeModel(at('gemma', 'model.safetensors'))
  const config = { model_type: 'gemma3_text', num_hidden_layers: 6, hidden_size: 4, num_attention_heads: 2 }
  const lineFor = async (more: object): Promise<string | undefined> => {
    writeFileSync(at('gemma', 'config.json'), JSON.stringify({ ...config, sliding_window: 512, ...more }))
    return (await tare('inspect', at('gemma'))).stdout.split('\n')[2]
  }
  expect(await lineFor({ max_position_embeddings: 1024 })).toBe(
    '  memory   832 B for the weights, 56.0 KiB for a KV cache of 1,024 tokens (f16; windows of 512 take 40.0 KiB, the rest 16.0 KiB per 1,024)',
  )
  expect(await lineFor({ sliding_window: null })).toBe(
    '  memory   832 B for the weights; a KV cache takes 96.0 KiB per 1,024 tokens (f16)',
  )
})

test('what goes into a graph and comes out is said', async () => {
  const { stdout } = await tare('inspect', join(fixturesRoot, 'onnx', 'raw.onnx'))
  expect(stdout).toMatch(/\n {2}graph {4}\d+ nodes?, \S.* → \S.*\n/)
})

test('a directory without a model names those right below it', async () => {
  mkdirSync(at('hub', 'onnx'), { recursive: true })
  writeFileSync(at('hub', 'config.json'), '{}')
  expect((await tare('inspect', at('hub'))).stderr).toMatch(/tare knows \(io\/empty-directory\)/)
  writeModel(at('hub', 'onnx', 'model.safetensors'))
  expect((await tare('inspect', at('hub'))).stderr).toMatch(/; name one below it: onnx \(io\/empty-directory\)/)
})

describe('repeated layers', () => {
  test('share a row', async () => {
    const { stdout } = await tare('inspect', model())
    expect(stdout).toMatch(/ layers\.\{0\.\.5\}\.q +6 +f32 +\[4, 4\] +384 B\n/)
    expect(stdout).not.toMatch(/note/)
  })

  test.each([[['--all']], [['--tensors', 'layers.*']], [['--sort', 'offset']], [['--json']], [['--format', 'csv']]])(
    'are listed with %s',
    async (flags) => {
      const { stdout } = await tare('inspect', ...flags, model())
      for (let i = 0; i < layers; i++) expect(stdout).toContain(`layers.${i}.q`)
    },
  )

  test('the limit is about tensors, not about metadata', async () => {
    await tare('convert', model(), '-o', at('m.safetensors'), '--set', 'a=1', '--set', 'b=2')
    const { stdout } = await tare('inspect', '--limit', '1', at('m.safetensors'))
    expect(stdout).toMatch(/ a +str +"1"\n +b +str +"2"\n/)
    expect(stdout).toContain('… and 2 more')
  })
})

test('what a container carries for another format takes one line', async () => {
  await tare('convert', model(), '-o', at('m.npz'))
  await tare('convert', at('m.npz'), '-o', at('back.gguf'))
  const { stdout } = await tare('inspect', at('back.gguf'))
  expect(stdout).toMatch(/tare\.stowage +str +carried for npz: .+\n/)
  expect(stdout).not.toMatch(/^ +stowage/m)
})

describe('forms of tables', () => {
  test('records have whole numbers, and name their input where there are several', async () => {
    const one = await tare('inspect', '--format', 'csv', '--columns', 'name,size', model())
    expect(one.stdout.split('\n').slice(0, 2)).toEqual(['name,size', 'embed,64'])
    const two = (await tare('stats', '--format', 'tsv', '--columns', 'name,max', model(), model())).stdout.split('\n')
    expect(two[0]).toBe('file\tname\tmax')
    expect(two[1]).toBe(`${model()}\tembed\t0`)
    expect(two.filter((line) => line.startsWith('file'))).toHaveLength(1)
    expect(two).toHaveLength(1 + 2 * (1 + 2 * layers) + 1)
  })

  test('every verb with a table prints it as Markdown', async () => {
    await tare('convert', model(), '-o', at('half.safetensors'), '--cast', 'f16')
    for (const [verb, ...inputs] of [
      ['inspect', model()],
      ['stats', model()],
      ['hash', model()],
      ['map', model()],
      ['diff', model(), at('half.safetensors')],
    ] as const) {
      const { stdout } = await tare(verb, '--format', 'md', ...inputs)
      for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^\| .* \|$/)
    }
  })

  test('a column that is not there is refused, with those that are', async () => {
    const { status, stderr } = await tare('stats', '--columns', 'name,size', model())
    expect([status, stderr]).toEqual([2, expect.stringContaining('there is no column size here; there are name, type')])
  })

  test('inputs are separated by an empty line', async () => {
    expect((await tare('inspect', model(), model())).stdout).toContain(`\n\n${model()}\n`)
  })

  test('colour is a choice', async () => {
    expect((await tare('inspect', '--color', 'always', model())).stdout).toContain('\x1b[1m')
    expect((await tare('inspect', '--color', 'never', model())).stdout).not.toContain('\x1b')
  })
})

describe('a file that ends early', () => {
  const size = (): number => readFileSync(model()).byteLength
  const message = (): string =>
    `the file ends early: ${size() - 200} of ${size().toLocaleString('en')} bytes (${Math.floor((100 * (size() - 200)) / size())} %) are here; 9 of 13 tensors are complete, and \`tare repair\` saves them`
  let said = ''
  beforeEach(() => {
    said = message().replace(String(size() - 200), (size() - 200).toLocaleString('en'))
    truncateSync(model(), size() - 200)
  })

  test('verify says so first', async () => {
    const { status, stdout } = await tare('verify', model())
    expect([status, stdout.split('\n')[0]]).toEqual([1, `error ${model()}: ${said}`])
    expect(JSON.parse((await tare('verify', '--json', model())).stdout).cut).toMatchObject({
      size: readFileSync(model()).byteLength,
      expected: readFileSync(model()).byteLength + 200,
      tensors: { whole: 9, total: 13 },
    })
  })

  test('inspect still lists what is there, and what is missing', async () => {
    const { status, stdout, stderr } = await tare('inspect', '--all', model())
    expect([status, stderr]).toEqual([1, `tare: ${model()}: ${said}\n`])
    expect(stdout).toMatch(/layers\.0\.q +f32/)
    expect(stdout).toMatch(/missing\n.*\n +layers\.4\.q +64 B/)
    const { cut, tensors } = JSON.parse((await tare('inspect', '--json', model())).stdout)
    expect([tensors.length, cut.lost.length]).toEqual([9, 4])
  })

  test.each(['m.gguf', 'm.oinf', 'm.mcf', 'm.aero', 'm.weights', 'm.npy'])(
    '%s knows how long it should be',
    async (name) => {
      writeModel(model())
      const options = name === 'm.npy' ? ['--only', 'embed'] : []
      await tare('convert', model(), '-o', at(name), '--allow-loss', ...options)
      const whole = readFileSync(at(name)).byteLength
      truncateSync(at(name), whole - 40)
      const { status, stdout } = await tare('verify', '--json', at(name))
      const { cut } = JSON.parse(stdout)
      expect([status, cut.size]).toEqual([1, whole - 40])
      expect(cut.expected).toBeGreaterThan(whole - 40)
      expect(cut.expected).toBeLessThanOrEqual(whole)
    },
  )

  test.each(['m.gguf', 'm.aero', 'm.safetensors'])('%s is called cut when its index is', async (name) => {
    writeModel(model())
    await tare('convert', model(), '-o', at(name))
    truncateSync(at(name), 100)
    const { status, stderr } = await tare('inspect', at(name))
    expect(status).toBe(1)
    expect(stderr).toMatch(/ends early: 100 of at least [\d,]+ bytes are here, and its index is not complete/)
  })

  test.each([
    ['m.gguf', 5],
    ['m.aero', 50],
    ['m.safetensors', 6],
    ['m.oinf', 30],
    ['m.mcf', 20],
  ])('%s is called cut when %i bytes of its header are left', async (name, left) => {
    writeModel(model())
    await tare('convert', model(), '-o', at(name), '--allow-loss')
    truncateSync(at(name), left)
    const { status, stderr } = await tare('inspect', at(name))
    expect([status, stderr]).toEqual([1, expect.stringContaining(`ends early: ${left} of at least `)])
  })

  test.each([
    ['npy', 'big-f32.npy', 60],
    ['npy', 'big-f32.npy', 9],
    ['embd', 'sect-tiny-bert-1layer.weights', 3],
    ['embd', 'sect-tiny-bert-1layer.weights', 40],
    ['embd', 'stream-tiny-bert-1layer.bin', 11],
    ['embd', 'stream-tiny-bert-1layer.bin', 18],
  ])('%s: %s is called cut when %i bytes of it are left', async (format, name, left) => {
    writeFileSync(at(name), readFileSync(fixturePath(format, name)).subarray(0, left))
    const { status, stderr } = await tare('inspect', at(name))
    expect([status, stderr]).toEqual([1, expect.stringContaining(`ends early: ${left} of at least `)])
  })

  test('an archive is called cut when only a part of its comment is missing', async () => {
    const name = Buffer.from('comment of 20 letter')
    writeModel(model())
    await tare('convert', model(), '-o', at('m.npz'), '--allow-loss')
    const bytes = readFileSync(at('m.npz'))
    bytes.writeUInt16LE(name.byteLength, bytes.byteLength - 2)
    writeFileSync(at('m.npz'), Buffer.concat([bytes, name]))
    expect((await tare('verify', at('m.npz'))).status).toBe(0)
    truncateSync(at('m.npz'), bytes.byteLength + 5)
    expect((await tare('verify', at('m.npz'))).stdout).toContain('ends early')
  })

  test('the tensors of EMBD that are missing are counted', async () => {
    writeFileSync(at('m.weights'), readFileSync(fixturePath('embd', 'sect-tiny-bert-1layer.weights')).subarray(0, 3254))
    expect((await tare('inspect', at('m.weights'))).stderr).toContain('; 7 of 21 tensors are complete')
    truncateSync(at('m.weights'), 1084)
    expect((await tare('repair', at('m.weights'), '-o', at('x'))).stderr).toContain('the file ends before its tensors')
  })

  test('an archive says so too, although nothing tells how long it was', async () => {
    writeModel(model())
    await tare('convert', model(), '-o', at('m.npz'), '--allow-loss')
    truncateSync(at('m.npz'), 1000)
    const early = `${at('m.npz')}: the file ends early, after 1,000 bytes; \`tare repair\` saves the complete tensors`
    const verified = await tare('verify', at('m.npz'))
    expect([verified.status, verified.stdout.split('\n')[0]]).toEqual([1, `error ${early}`])
    const inspected = await tare('inspect', at('m.npz'))
    expect([inspected.status, inspected.stderr]).toEqual([1, `tare: ${early}\n`])
    expect(inspected.stdout).toMatch(/embed +f32/)
    writeFileSync(at('not.npz'), 'hello')
    expect((await tare('verify', '--from', 'npz', at('not.npz'))).stdout).not.toContain('early')
  })

  test('many findings of one code are counted, and listed with --all', async () => {
    writeModel(model())
    truncateSync(model(), size() - 600)
    const short = (await tare('verify', model())).stdout
    expect(short.match(/^error safetensors\/past-end/gm)).toHaveLength(3)
    expect(short).toContain('more of safetensors/past-end (--all lists them)')
    expect((await tare('verify', '--all', model())).stdout.match(/^error safetensors\/past-end/gm)).toHaveLength(10)
  })

  test('a finding about a file of a directory names the file', async () => {
    mkdirSync(at('folder'))
    writeFileSync(at('folder', 'model.safetensors'), readFileSync(model()))
    const { stdout } = await tare('verify', at('folder'))
    expect(stdout).toMatch(/^error safetensors\/past-end model\.safetensors @ 0x/m)
  })
})

test('-q leaves out notes, and a message about a whole file has no place', async () => {
  expect((await tare('verify', '-q', model())).stdout).not.toContain('note')
  writeFileSync(at('x'), 'hello')
  expect((await tare('verify', at('x'))).stdout).toMatch(/^error open\/[a-z-]+: /)
})

test('extract takes the only tensor, and says what it can write', async () => {
  await tare('convert', model(), '-o', at('one.npy'), '--only', 'embed')
  expect(await tare('extract', at('one.npy'), '-o', at('out.npy'))).toMatchObject({ status: 0 })
  expect((await tare('extract', model(), '-o', at('out.npy'))).stderr).toContain('name one of its 13 tensors')
  const image = await tare('extract', model(), 'embed', '-o', at('out.png'))
  expect([image.status, image.stderr]).toEqual([2, expect.stringContaining('extract does not draw; use: tare picture')])
})
