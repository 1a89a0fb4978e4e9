// The error of what is quantized twice, against the original.
import { existsSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { tensorQuality } from '../../../../src/kit.js'
import { openModel } from '../../../../src/node.js'
import { useTempDir } from '../../../node/temp-dir.js'
import { runCli } from '../../run-cli.js'

const at = useTempDir()

function writeModel(path: string, name: string, values: Float32Array): void {
  const header = JSON.stringify({ [name]: { dtype: 'F32', shape: [8, 256], data_offsets: [0, 8192] } })
  const length = new Uint8Array(BigUint64Array.of(BigInt(header.length)).buffer)
  writeFileSync(path, Buffer.concat([length, Buffer.from(header), Buffer.from(values.buffer)]))
}

beforeEach(async () => {
  const values = Float32Array.from({ length: 8 * 256 }, (_, i) => Math.sin(i * i) * Math.cos(i * 0.013))
  writeModel(at('model.safetensors'), 'a.weight', values)
  writeModel(at('other.safetensors'), 'b.weight', values)
  expect((await runCli('quantize', at('model.safetensors'), '-o', at('q5.gguf'), '--method', 'q5_0')).status).toBe(0)
})

const again = (output: string, ...args: string[]) =>
  runCli('quantize', at('q5.gguf'), '-o', at(output), '--method', 'q4_0', '--requantize', ...args)

describe('--reference', () => {
  it('measures against the original instead of the input', async () => {
    const own = JSON.parse((await again('a.gguf', '--report', '--json')).stdout)
    const both = JSON.parse((await again('b.gguf', '--reference', at('model.safetensors'), '--json')).stdout)
    expect(own.reference).toBeUndefined()
    expect(both.reference).toBe(at('model.safetensors'))
    expect(own.quality.tensors[0].from).toBe('ggml.q5_0')
    expect(both.quality.tensors[0].from).toBe('f32')
    await using original = await openModel(at('model.safetensors'))
    await using written = await openModel(at('b.gguf'))
    const wanted = await tensorQuality(original.tensor('a.weight')!, written.tensor('a.weight')!)
    expect(both.quality.tensors[0].rmse).toBe(wanted.rmse)
    expect(both.quality.tensors[0].rmse).not.toBe(own.quality.tensors[0].rmse)
  })

  it('says what the errors are those of', async () => {
    const { stderr, stdout } = await again('c.gguf', '--reference', at('model.safetensors'))
    expect(stdout + stderr).toContain(`errors are those against ${at('model.safetensors')}`)
  })

  it('refuses a model that has none of the tensors', async () => {
    const { status, stderr } = await again('d.gguf', '--reference', at('other.safetensors'))
    expect(status).toBe(2)
    expect(stderr).toContain('nothing to compare')
    expect(existsSync(at('d.gguf'))).toBe(false)
  })
})
