// Pictures through the command, as a user asks for them.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noise } from '../../support/numbers.js'
import { runCli } from '../run-cli.js'

const folder = mkdtempSync(join(tmpdir(), 'tare-picture-'))
const at = (name: string): string => join(folder, name)
const model = at('model.safetensors')
const odd = 'evil <b>&\u202e.x'

beforeAll(() => {
  const shapes = { 'blk.0.attn_q.weight': [64, 256], 'blk.0.ffn_up.weight': [256, 256], [odd]: [2, 3], empty: [0, 4] }
  const header: Record<string, unknown> = {}
  const data: Uint8Array[] = []
  let end = 0
  for (const [name, shape] of Object.entries(shapes)) {
    const values = noise(name.length, shape[0]! * shape[1]!)
    if (name === odd) values[4] = Number.NaN
    header[name] = { dtype: 'F32', shape, data_offsets: [end, end + values.byteLength] }
    end += values.byteLength
    data.push(new Uint8Array(values.buffer))
  }
  const text = JSON.stringify(header)
  const head = Buffer.from(text.padEnd(text.length + ((8 - (Buffer.byteLength(text) % 8)) % 8)))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(head.length))
  writeFileSync(model, Buffer.concat([length, head, ...data]))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Width and height of a PNG. */
function sizeOf(path: string): [number, number] {
  const bytes = readFileSync(path)
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

describe('tare picture', () => {
  it('draws the model without a tensor', async () => {
    const { status, stderr } = await runCli('picture', model, '-o', at('tree.png'), '--size', '600x400')
    expect([status, stderr]).toEqual([0, expect.stringContaining('treemap, 600 × 400 pixels')])
    expect(sizeOf(at('tree.png'))).toEqual([600, 400])
  })

  it.each(['heatmap', 'histogram', 'methods'])('draws a %s of a tensor', async (kind) => {
    for (const type of ['png', 'svg']) {
      const output = at(`${kind}.${type}`)
      const ran = await runCli('picture', model, 'blk.0.attn_q.weight', '--kind', kind, '-o', output)
      expect(ran.status, ran.stderr).toBe(0)
      if (type === 'png') expect(sizeOf(output)[0]).toBe(1200)
      else expect(readFileSync(output, 'utf8')).toMatch(/^<svg [\s\S]*blk\.0\.attn_q\.weight[\s\S]*<\/svg>\n$/)
    }
  })

  it('takes a slice, scales, colours and figures', async () => {
    const flags = ['--slice', '0:8,10:20', '--scale', 'minmax', '--colors', 'gray', '--cells', 'rms']
    const ran = await runCli('picture', model, 'blk.0.attn_q.weight', ...flags, '-o', at('part.svg'), '--json')
    expect(ran.status, ran.stderr).toBe(0)
    const { picture } = JSON.parse(ran.stdout)
    expect(picture.description).toContain('f32 [8, 10]: every value')
    expect(readFileSync(at('part.svg'), 'utf8')).toContain('[0:8,10:20]')
  })

  it('escapes names, and marks what is not finite', async () => {
    const ran = await runCli('picture', model, odd, '-o', at('odd.svg'))
    expect(ran.status, ran.stderr).toBe(0)
    const svg = readFileSync(at('odd.svg'), 'utf8')
    expect(svg).toContain('evil &lt;b&gt;&amp;\\u{202e}.x')
    expect(svg).toContain('not finite')
    expect(svg).not.toContain('\u202e')
  })

  it('draws an empty tensor', async () => {
    for (const kind of ['heatmap', 'histogram', 'methods'])
      expect((await runCli('picture', model, 'empty', '--kind', kind, '-o', at('empty.png'))).status).toBe(0)
  })

  it.each([
    [['-o', 'x.jpg'], 'FILE.png'],
    [['w', '--kind', 'treemap', '-o', 'x.png'], 'leave out the tensor'],
    [['--kind', 'histogram', '-o', 'x.png'], 'name the tensor'],
    [['--scale', 'log', '-o', 'x.png'], 'no meaning for a treemap'],
    [['w', '--kind', 'histogram', '--scale', 'sign', '-o', 'x.png'], 'is log'],
    [['-o', 'x.png', '--size', '10x10'], '240 to 8192'],
    [[], '-o FILE'],
  ])('refuses %j', async (words, message) => {
    const { status, stderr } = await runCli('picture', model, ...words)
    expect(status).toBe(2)
    expect(stderr).toContain(message)
    expect(existsSync('x.png')).toBe(false)
  })

  it('says which tensor there is not, and writes nothing', async () => {
    const { status, stderr } = await runCli('picture', model, 'attn_q', '-o', at('none.png'))
    expect([status, existsSync(at('none.png'))]).toEqual([2, false])
    expect(stderr).toContain('did you mean blk.0.attn_q.weight?')
  })
})
