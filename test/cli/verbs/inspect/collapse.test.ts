import { expect, test } from 'vitest'
import { collapseLayers } from '../../../../src/cli/verbs/inspect/collapse.js'

const rowsOf = (names: readonly string[], kindOf: (item: { name: string }) => string = () => ''): [string, number][] =>
  collapseLayers(
    names.map((name) => ({ name })),
    kindOf,
  ).map(({ name, members }) => [name, members.length])

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

test('layers share a row, where the first of them stood', () => {
  const names = ['embed', ...range(4).flatMap((i) => [`layers.${i}.q.weight`, `layers.${i}.k.weight`]), 'head']
  expect(rowsOf(names)).toEqual([
    ['embed', 1],
    ['layers.{0..3}.q.weight', 4],
    ['layers.{0..3}.k.weight', 4],
    ['head', 1],
  ])
})

test('two of a kind are listed, and what is of another kind has a row of its own', () => {
  expect(rowsOf(['a.0.w', 'a.1.w'])).toEqual([
    ['a.0.w', 1],
    ['a.1.w', 1],
  ])
  const kinds = rowsOf(
    range(6).map((i) => `a.${i}.w`),
    ({ name }) => (Number(name[2]) < 3 ? 'q4' : 'q6'),
  )
  expect(kinds).toEqual([
    ['a.{0..2}.w', 3],
    ['a.{3..5}.w', 3],
  ])
})

test('experts in layers fill a grid, or have a row for each layer', () => {
  const grid = range(2).flatMap((layer) => range(4).map((expert) => `l.${layer}.e.${expert}.w`))
  expect(rowsOf(grid)).toEqual([['l.{0..1}.e.{0..3}.w', 8]])
  expect(rowsOf([...grid, 'l.2.e.0.w', 'l.2.e.1.w', 'l.2.e.2.w'])).toEqual([
    ['l.0.e.{0..3}.w', 4],
    ['l.1.e.{0..3}.w', 4],
    ['l.2.e.{0..2}.w', 3],
  ])
})

test('gaps are shown, many of them only hinted at', () => {
  expect(rowsOf([0, 1, 2, 5].map((i) => `a.${i}`))).toEqual([['a.{0..2,5}', 4]])
  expect(rowsOf(range(8).map((i) => `a.${2 * i}`))).toEqual([['a.{0,2,4,…,14}', 8]])
})

test('equal names are never joined', () => {
  expect(rowsOf(['a', 'a', 'a'])).toEqual([
    ['a', 1],
    ['a', 1],
    ['a', 1],
  ])
  expect(rowsOf(['a.0', 'a.0', 'a.0', 'a.1'])).toHaveLength(4)
})
