// The same bytes as the reference encoder of OINF, from descriptions that say what its inputs said.
import { expect, test } from 'vitest'
import { fillDescription, parseDescription } from '../../src/kit.js'
import { convertToFiles } from '../support/convert.js'
import { fixtureBytes } from '../support/fixtures.js'
import { pack } from './support.js'

async function packed(description: unknown, version: number): Promise<Uint8Array> {
  const [bytes] = (
    await convertToFiles(await pack(description), 'oinf', { extra: { 'oinf-version': version } })
  ).values()
  return bytes!
}

const descriptions: Record<string, unknown> = {
  cli_json: fillDescription(
    {
      sizevars: { B: null, D: null },
      metadata: { mode: null, lr: null, training: null, dims: null },
      tensors: {
        w: { dtype: 'f32' },
        q: { dtype: 'i4' },
        mask: {},
        cache: { dtype: 'f16', shape: ['B', 'D'], data: null },
      },
    },
    parseDescription(fixtureBytes('oinf', 'cli_json_input.json'), 'cli_json_input.json'),
  ),
  dataclass_infer: {
    sizevars: { B: 3, o: 4, size: 9 },
    metadata: { flag: true, lr: 0.1, lst: [1, 2, 300], m64: { value: 2.5, dtype: 'f64' }, mode: 'fast' },
    tensors: {
      q: [1, 2, 3],
      r: { data: [1, 2, 3], dtype: 'u4' },
      tens: { data: [1, 2.5], dtype: 'f16' },
      u: { dtype: 'f32', shape: [2, 2], data: null },
      w: { data: Float64Array.of(0, 1, 2, 3), shape: [2, 2] },
    },
  },
  meta_infer_int: {
    metadata: {
      ...{ n0: -1, n1: -128, n2: -129, n3: -32768, n4: -32769, n5: -2147483648, n6: -2147483649, n7: -(2n ** 63n) },
      ...{ p0: 0, p1: 1, p2: 255, p3: 256, p4: 65535, p5: 65536, p6: 4294967295, p7: 4294967296, p8: 2n ** 64n - 1n },
    },
  },
  meta_infer_misc: {
    metadata: {
      ...{ b: true, f: 0.5, fbig: Number.POSITIVE_INFINITY, lb: [true, false, true], lf: [1.5, 2], li: [1, 2, 3] },
      ...{ li16: [1, -200], li32: [70000], li64: [1099511627776], lu64: [9223372036854775813n] },
      ...{
        np64: BigInt64Array.of(0n, 1n, 2n),
        npf64: Float64Array.of(0.1, 0.2),
        npi: 300,
        nps: 0.25,
        s: 'x',
        t: [1, 2],
      },
    },
  },
  meta_bitset: {
    metadata: Object.fromEntries(
      ['', '0', '1001011', '10101110', '111011111', '000011110110110101111100101101000']
        .map((bitset) => [`bits${String(bitset.length).padStart(2, '0')}`, { bitset }])
        .concat([['bits64', { bitset: '1111000100001100010100110011101011100110010010011000101001111111' }]]),
    ),
  },
  mixed_small: {
    sizevars: { B: 8, D: 4 },
    metadata: { mode: 'clamp_up', x: 10.35 },
    tensors: {
      'W.0': { dtype: 'f32', shape: ['D'], data: [0, 1, 2, 3] },
      a: { dtype: 'f16', shape: ['B'], data: [-1, -5 / 7, -3 / 7, -1 / 7, 1 / 7, 3 / 7, 5 / 7, 1] },
      kernel: { dtype: 'u8', shape: ['D', 'D'], data: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] },
      y: { dtype: 'i16', shape: [], data: null },
    },
  },
}

test.each(Object.keys(descriptions).flatMap((name) => [1, 2].map((version) => [name, version] as const)))(
  '%s, version %i',
  async (name, version) => {
    const golden = fixtureBytes('oinf', `${name}_v${version}.oinf`)
    expect(Buffer.from(await packed(descriptions[name], version)).toString('hex')).toBe(
      Buffer.from(golden).toString('hex'),
    )
  },
)

const quantized: Record<string, unknown> = {
  quant_per_channel: {
    q: {
      dtype: 'i4',
      shape: [4, 3],
      data: [-2, -1, 0, 1, 2, 3, -4, -3, -2, -1, 0, 1],
      quant: { scheme: 'asymmetric', axis: 1, scales: [0.1, 0.2, 0.3], zeroPoints: [-1, 0, 1] },
    },
  },
  quant_per_tensor_asym: {
    q: { dtype: 'u8', data: [1, 2, 3, 4], quant: { scheme: 'asymmetric', scales: 0.125, zeroPoints: [128] } },
  },
}

test.each(Object.keys(quantized))('%s', async (name) => {
  const golden = fixtureBytes('oinf', `${name}_v2.oinf`)
  const bytes = await packed({ tensors: quantized[name] }, 2)
  expect(Buffer.from(bytes).toString('hex')).toBe(Buffer.from(golden).toString('hex'))
})
