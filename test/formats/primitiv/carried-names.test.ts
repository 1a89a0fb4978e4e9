// Names of any bytes, paths and statistics on their way through containers that only know names as text.
import { describe, expect, it } from 'vitest'
import { diffModels, formats, type Model, openModel, planConversion, verifySource } from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, isPresent } from '../../support/fixtures.js'
import { hex, key, modelFile, open, parameter, tensor, toHex } from './build.js'

const roomy = formats.filter(({ capabilities, id }) => capabilities.write && id !== 'npy' && id !== 'primitiv')

const files: readonly (readonly [string, Uint8Array])[] = [
  ['a name of one odd byte in a submodel', modelFile([key('m', hex('ff')), parameter([3])])],
  [
    'odd names with statistics, in an order of their own',
    modelFile([
      key(hex('ff')),
      parameter(
        [2, 3],
        [
          ['Adam.m2', tensor([2, 3])],
          ['Adam.m1', tensor([2, 3])],
        ],
      ),
    ]),
  ],
  [
    'an odd statistic of a parameter with a plain name',
    modelFile([
      key('out', 'w'),
      parameter(
        [2],
        [
          ['m', tensor([2])],
          [hex('4164ff'), tensor([2])],
        ],
      ),
    ]),
  ],
  [
    'names that look alike, with dots, hashes and backslashes',
    modelFile(
      [
        key('a', 'b'),
        parameter(
          [2],
          [
            [hex('7aff'), tensor([2])],
            ['z\\xff', tensor([1])],
            ['m', tensor([2])],
          ],
        ),
      ],
      [
        key('a.b'),
        parameter(
          [2],
          [
            ['m', tensor([2])],
            ['b', tensor([2])],
          ],
        ),
      ],
      [key('a.b#m'), parameter([1])],
      [key('q\\xff'), parameter([2], [[hex('ff'), tensor([2])]])],
      [key(hex('71fe')), parameter([2])],
      [
        key(hex('71ff')),
        parameter(
          [3],
          [
            [hex('ff'), tensor([2])],
            ['Adam.m2', tensor([1])],
            ['Adam.m1', tensor([3])],
          ],
        ),
      ],
    ),
  ],
]

async function through(model: Model, away: string): Promise<Uint8Array> {
  const there = await convertToFiles(model, away, { name: `m.${away}` })
  const carried = await openModel(sourceOf(there), { from: away })
  const { plan } = await planConversion(model, away, { name: `m.${away}` })
  expect(plan.loss).toBe('none')
  expect((await diffModels(model, carried)).equal).toBe(true)
  expect((await verifySource(sourceOf(there), { from: away })).findings.filter(isError)).toEqual([])
  const [back] = (await convertToFiles(carried, 'primitiv', { name: 'm.model' })).values()
  return back!
}

const isError = ({ severity }: { readonly severity: string }): boolean => severity === 'error'

describe.each(roomy.map(({ id }) => id))('through %s and back', (away) => {
  it.each(files)('%s', async (_, bytes) => {
    const { model } = await open(bytes)
    expect(toHex(await through(model, away))).toBe(toHex(bytes))
  })

  const found = [
    ['regressions', 'nu1.model'],
    ['regressions', 'nu2.model'],
    ['faults', 'dup.model'],
  ] as const
  for (const [folder, file] of found) {
    it.skipIf(!isPresent(folder, file))(`${folder}/${file}`, async () => {
      const bytes = fixtureBytes(folder, file)
      expect(toHex(await through((await open(bytes)).model, away))).toBe(toHex(bytes))
    })
  }
})

describe('without a place for what names do not tell', () => {
  const lossOf = async (bytes: Uint8Array, away: string): Promise<readonly (readonly [string, string])[]> => {
    const { plan } = await planConversion((await open(bytes)).model, away, { name: `m.${away}`, stow: false })
    return plan.actions.filter(({ loss }) => loss !== 'none').map(({ name, loss }) => [name, loss] as const)
  }

  it.each(roomy.map(({ id }) => id))('the loss is named: %s', async (away) => {
    const own = (lost: readonly (readonly [string, string])[]) => lost.filter(([name]) => name.includes('m'))
    expect(own(await lossOf(modelFile([key('m', hex('ff')), parameter([3])]), away))).toContainEqual([
      'm.\\xff',
      'content',
    ])
    const stats = modelFile([key('m'), parameter([2], [['s', tensor([2])]])])
    expect(own(await lossOf(stats, away))).toContainEqual(['m#s', 'form'])
    expect(own(await lossOf(modelFile([key('m.x'), parameter([2])]), away))).toContainEqual(['m.x', 'form'])
    const plain = modelFile([key('m', 'x'), parameter([2])])
    expect(own(await lossOf(plain, away)).filter(([name]) => name === 'm.x')).toEqual([])
  })

  it('and the difference is seen', async () => {
    const bytes = modelFile([key('m', hex('ff')), parameter([3])])
    const { model } = await open(bytes)
    const files = await convertToFiles(model, 'safetensors', { name: 'm.safetensors', stow: false })
    const difference = await diffModels(model, await openModel(sourceOf(files)))
    expect(difference.summary.tensors).toMatchObject({ renamed: 1 })
  })
})

it('bytes of a name make their way from one container to the next', async () => {
  const { model } = await open(files[0]![1])
  const first = await openModel(sourceOf(await convertToFiles(model, 'mcf', { name: 'm.mcf' })))
  const second = await openModel(sourceOf(await convertToFiles(first, 'gguf', { name: 'm.gguf' })))
  const [back] = (await convertToFiles(second, 'primitiv', { name: 'm.model' })).values()
  expect(toHex(back!)).toBe(toHex(files[0]![1]))
})
