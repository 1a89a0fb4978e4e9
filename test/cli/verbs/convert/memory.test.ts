// The memory that a plan foresees is enough. What counts is what a conversion takes beyond one of next to nothing.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useCompiled } from '../../compiled.js'

const compiled = useCompiled()
let directory = ''
const at = (name: string): string => join(directory, name)

/** A safetensors file of small numbers. */
function writeModel(name: string, tensors: readonly (readonly [name: string, shape: readonly number[]])[]): void {
  const header: Record<string, unknown> = {}
  let end = 0
  for (const [tensor, shape] of tensors) {
    const start = end
    end += shape.reduce((a, b) => a * b, 4)
    header[tensor] = { dtype: 'F32', shape, data_offsets: [start, end] }
  }
  const text = JSON.stringify(header)
  const json = text.padEnd(Math.ceil(text.length / 8) * 8)
  const file = openSync(at(name), 'w')
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  writeSync(file, length)
  writeSync(file, json)
  const values = Float32Array.from({ length: 1 << 18 }, (_, i) => Math.sin(i * 12.9898) / 4)
  const bytes = Buffer.from(values.buffer)
  for (let left = end; left > 0; left -= bytes.byteLength) writeSync(file, bytes, 0, Math.min(left, bytes.byteLength))
  closeSync(file)
}

interface Ran {
  readonly plan: { readonly peakMemory: number; readonly size: number }
  readonly peak: number
}

function convert(...args: string[]): Ran {
  const command = ['--import', at('peak.mjs'), compiled('cli/main.js'), 'convert', ...args, '--json']
  const ran = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  })
  return { plan: JSON.parse(ran.stdout), peak: Number(ran.output[3]) }
}

let least = 0

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tare-test-'))
  const report = `import { writeSync } from 'node:fs'
process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS * 1024)))`
  writeFileSync(at('peak.mjs'), report)
  writeModel('tiny.safetensors', [['w', [4]]])
  writeModel('matrix.safetensors', [['w.weight', [2048, 4096]]])
  writeModel(
    'many.safetensors',
    Array.from({ length: 4000 }, (_, i) => [`model.layers.${i}.weight`, [4]] as const),
  )
  least = convert(at('tiny.safetensors'), '-o', at('tiny.gguf')).peak
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

it.each([
  ['a copy', 'matrix.safetensors', 'o.gguf', []],
  ['a cast', 'matrix.safetensors', 'o.mcf', ['--cast', 'f16']],
  ['another order of elements', 'matrix.safetensors', 'o.model', ['--to', 'primitiv']],
  ['quantizing', 'matrix.safetensors', 'k4.mcf', ['--quantize', 'k4']],
  ['many tensors', 'many.safetensors', 'o.safetensors', []],
  ['an archive of many members', 'many.safetensors', 'o.npz', []],
])('%s takes no more than its plan says', (_, input, output, flags) => {
  const { plan, peak } = convert(at(input), '-o', at(output), ...flags)
  expect(peak - least).toBeLessThanOrEqual(plan.peakMemory)
  // Neither is it a figure that is always enough: the weights are not in it.
  if (flags.length === 0 && input === 'matrix.safetensors') expect(plan.peakMemory).toBeLessThan(plan.size)
})
