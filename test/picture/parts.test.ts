import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pictureSides } from '../../src/cli/flags/parse-values.js'
import { picture } from '../../src/cli/verbs/picture/index.js'
import { colorAt, colorMapNamed, colorMaps, makeScale, scaleKinds } from '../../src/kit.js'
import { cellFigures, largestSide, smallestSide } from '../../src/picture/index.js'
import { categories, inkOn, noValue } from '../../src/picture/parts/colors.js'
import { modelTree, placeOf } from '../../src/picture/parts/model-tree.js'
import { squarify } from '../../src/picture/parts/squarify.js'
import { indexTicks, label, ticksBetween } from '../../src/picture/parts/ticks.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

fc.configureGlobal({ seed: 19 })

describe('colour maps', () => {
  it.each(colorMaps)('$name begins and ends with its colours, and has one for NaN', (map) => {
    expect(colorAt(map, 0)).toEqual(map.stops[0])
    expect(colorAt(map, 1)).toEqual(map.stops.at(-1))
    expect(colorAt(map, 7)).toEqual(map.stops.at(-1))
    expect(colorAt(map, Number.NaN)).toEqual(noValue)
  })

  it.each(colorMaps)('$name changes in lightness, so that hue is not needed', (map) => {
    const light = Array.from({ length: 21 }, (_, i) => {
      const [r, g, b] = colorAt(map, i / 20)
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    })
    const rising = map.kind === 'sequential' ? light : light.slice(0, 11)
    for (let i = 1; i < rising.length; i++) expect(rising[i]!).toBeGreaterThan(rising[i - 1]!)
    if (map.kind === 'diverging') for (let i = 11; i < 21; i++) expect(light[i]!).toBeLessThan(light[i - 1]!)
  })

  it('text is readable on every category', () => {
    const contrast = (a: readonly number[], b: readonly number[]): number => {
      const light = (color: readonly number[]): number => {
        const [r, g, bl] = color.map((part) =>
          part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
        )
        return 0.2126 * r! + 0.7152 * g! + 0.0722 * bl!
      }
      const [low, high] = [light(a), light(b)].sort((x, y) => x - y)
      return (high! + 0.05) / (low! + 0.05)
    }
    for (const color of categories) expect(contrast(color, inkOn(color))).toBeGreaterThanOrEqual(4.4)
  })
})

describe('scales', () => {
  it('place every value between 0 and 1, larger ones no lower, and NaN nowhere', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 })
    fc.assert(
      fc.property(values, fc.constantFrom(...scaleKinds), (list, kind) => {
        const scale = makeScale(kind, list)
        let before = 0
        // The exponent has no sign.
        const size = kind === 'exponent' ? Math.abs : Number
        for (const x of list.toSorted((a, b) => size(a) - size(b))) {
          const place = scale.place(x)
          expect(place).toBeGreaterThanOrEqual(before)
          expect(place).toBeLessThanOrEqual(1)
          before = place
        }
        expect(scale.place(Number.NaN)).toBeNaN()
      }),
    )
  })

  it('undo what they do between their ends', () => {
    const values = [-5, -0.1, 0, 2, 7]
    for (const kind of ['sigma', 'minmax', 'log'] as const) {
      const scale = makeScale(kind, values)
      for (const t of [0, 0.2, 0.5, 0.9, 1]) expect(scale.place(scale.valueAt(t))).toBeCloseTo(t, 10)
    }
    expect(makeScale('minmax', values)).toMatchObject({ low: -5, high: 7 })
    expect(makeScale('sign', values).place(-3)).toBe(0)
    expect(makeScale('sigma', [3, 3, 3]).place(3)).toBe(0.5)
    const exponent = makeScale('exponent', values)
    expect(exponent).toMatchObject({ low: 2 ** -13, high: 4 })
    expect([-7, 4, 0, 2 ** -13, 2.9].map(exponent.place)).toEqual([1, 1, 0, 0, 14 / 15])
  })
})

describe('squarify', () => {
  it('gives every size its share of the box, without overlaps', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 40 }), (sizes) => {
        const box = { x: 5, y: 7, width: 300, height: 200 }
        const total = sizes.reduce((sum, size) => sum + size)
        const boxes = squarify(sizes, box)
        expect(boxes).toHaveLength(sizes.length)
        for (const [i, each] of boxes.entries()) {
          expect(each.width * each.height).toBeCloseTo((sizes[i]! / total) * 60_000, 3)
          expect(each.x).toBeGreaterThanOrEqual(5 - 1e-6)
          expect(each.y + each.height).toBeLessThanOrEqual(207 + 1e-6)
          expect(each.x + each.width).toBeLessThanOrEqual(305 + 1e-6)
          for (const other of boxes.slice(i + 1)) {
            const across = Math.min(each.x + each.width, other.x + other.width) - Math.max(each.x, other.x)
            const down = Math.min(each.y + each.height, other.y + other.height) - Math.max(each.y, other.y)
            expect(Math.min(across, down)).toBeLessThan(1e-6)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('keeps equal sizes close to squares', () => {
    for (const { width, height } of squarify(Array(12).fill(1), { x: 0, y: 0, width: 400, height: 300 }))
      expect(Math.max(width / height, height / width)).toBeLessThan(1.5)
  })
})

describe('the tree of a model', () => {
  it.each([
    ['model.layers.3.self_attn.q_proj.weight', 'model.layers.3', 'self_attn', 'q_proj.weight'],
    ['blk.3.attn_q.weight', 'blk.3', 'attn', 'attn_q.weight'],
    ['token_embd.weight', 'token_embd', '', 'weight'],
    ['plain', 'plain', '', 'plain'],
    ['params/0', 'params', '', '0'],
  ])('%s', (name, layer, block, rest) => {
    expect(placeOf(name)).toEqual({ layer, block, rest })
  })

  it('adds up', () => {
    const names = ['blk.0.attn_q.weight', 'blk.0.attn_k.weight', 'blk.1.ffn_up.weight', 'output.weight']
    const tree = modelTree(sampleModel(names.map((name) => sampleTensor(name, 'f32', [2, 2]))))
    expect(tree.bytes).toBe(64)
    expect(tree.children.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['blk.0', 32],
      ['blk.1', 16],
      ['output', 16],
    ])
  })
})

describe('ticks and labels', () => {
  it('are round', () => {
    expect(ticksBetween(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10])
    expect(ticksBetween(3, 3, 5)).toEqual([3])
    expect(indexTicks(3, 8)).toEqual([0, 1, 2])
    expect([0, 0.00012345, 12.345, 1234567].map(label)).toEqual(['0', '1.23e-4', '12.3', '1.23e6'])
  })
})

describe('the flags of the command', () => {
  it('name what the library has', () => {
    expect(picture.flags.scale.choices).toEqual(scaleKinds)
    expect(picture.flags.cells.choices).toEqual(cellFigures)
    expect(picture.flags.colors.choices).toEqual(colorMaps.map(({ name }) => name))
    expect(colorMapNamed('gray')?.kind).toBe('sequential')
    expect(pictureSides).toEqual([smallestSide, largestSide])
  })
})
