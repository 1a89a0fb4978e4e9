// The reference verifier's own output, byte for byte. Files that it crashes on, although they are valid, have none; those are shown here
// with the statistics of their finite values.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openModel, showModel } from '../../../src/kit.js'
import { fixturePath, fixtureSource, isAccepted, isPresent, loadCases } from '../../support/fixtures.js'
import { bytes, f32, sourceOf } from './build.js'

async function show(file: string): Promise<string> {
  let text = ''
  for await (const piece of showModel(await openModel(fixtureSource('oinf', file)))) text += piece
  return text
}

const textOf = (file: string): string => file.replace(/\.oinf$/, '.verify.txt')
const accepted = loadCases('oinf')
  .filter(isAccepted)
  .map((each) => each.file)
const here = accepted.filter((file) => isPresent('oinf', file))
const shown = here.filter((file) => isPresent('oinf', textOf(file)))

describe('show', () => {
  it.each(shown)('%s as the reference does', async (file) => {
    expect(await show(file)).toBe(readFileSync(fixturePath('oinf', textOf(file)), 'utf8'))
  })

  it('goes over every text that there is', () => {
    const folders = new Set(here.map((file) => dirname(fixturePath('oinf', file))))
    const texts = [...folders].flatMap((folder) => readdirSync(folder).filter((name) => name.endsWith('.verify.txt')))
    const refused = ['odd_table_overruns_data_v1.verify.txt', 'odd_table_overruns_data_v2.verify.txt']
    expect(new Set(texts)).toEqual(new Set([...shown.map(textOf), ...refused]))
  })

  const absent = accepted.filter((file) => !isPresent('oinf', file))
  it.skipIf(absent.length > 0)('has every file', () => expect(absent).toEqual([]))
})

describe('show, where the reference crashes', () => {
  it('bases statistics on the finite values and counts the others', async () => {
    expect(await show('f8_overflow_v1.oinf')).toBe(`f8: f8[6] = { inf, inf, -inf, inf, -inf, nan }
- [nbytes: 24, nan: 1, inf: 5]
- hist: {}

`)
    const text = await show('tensors_special_floats_v1.oinf')
    expect(text).toMatch(/^x_f32: .*\n- \[nbytes: 24, min: \S+, max: \S+, .*nan: 1, inf: 2\]$/m)
  })

  it('shows nothing but one infinity as the value that it is, as the reference does', async () => {
    const file = sourceOf({
      tensors: [
        { name: 'down', tag: 10, dims: [2, 1], data: f32(-Infinity, -Infinity) },
        { name: 'mixed', tag: 10, dims: [2], data: f32(-Infinity, Infinity) },
        { name: 'up', tag: 9, dims: [3], data: bytes(0, 0x7c, 0, 0x7c, 0, 0x7c) },
      ],
    })
    let text = ''
    for await (const piece of showModel(await openModel(file))) text += piece
    expect(text).toBe(`down: f32[2, 1] = { 
{ -inf } ,
{ -inf } ,
}
- [nbytes: 8, min: -inf, max: -inf, mean: -inf, median: -inf, std: nan]
- hist: {([-inf, -inf], 2)}

mixed: f32[2] = { -inf, inf }
- [nbytes: 8, nan: 0, inf: 2]
- hist: {}

up: f16[3] = { inf, inf, inf }
- [nbytes: 6, min: inf, max: inf, mean: inf, median: inf, std: nan]
- hist: {([inf, inf], 3)}

`)
  })

  it('shows booleans of rank 2', async () => {
    expect(await show('tensors_bool_2d_v1.oinf')).toContain('- hist: {([0, 0], ')
  })

  it('shows every valid file', async () => {
    for (const file of here) expect(await show(file), file).not.toMatch(/undefined|NaN|\[object/)
  })
})
