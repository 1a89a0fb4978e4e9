import { expect, expectTypeOf, test } from 'vitest'
import { defineFlags, longName, type OptionsOf } from '../../src/cli/flags/flag.js'
import { parsePositive } from '../../src/cli/flags/parse-values.js'
import { flagTerms } from '../../src/cli/parser.js'
import type { ConvertOptions } from '../../src/cli/verbs/convert/index.js'

const flags = defineFlags({
  dryRun: { description: 'a switch' },
  output: { short: 'o', value: '<file>', description: 'a text' },
  sort: { value: '<key>', description: 'a choice', choices: ['size', 'name'] },
  threads: { value: '<n>', description: 'a number', parse: parsePositive },
  only: { value: '<glob>', description: 'a list', repeat: true },
  level: { value: '[level]', description: 'a choice that can be left out', choices: ['some', 'all'], bare: 'all' },
  stats: { value: '[file]', description: 'a text that can be left out', negated: 'without' },
  overwrite: { negated: 'only the negation' },
})

test('the types of options follow from the table', () => {
  expectTypeOf<OptionsOf<typeof flags>>().toEqualTypeOf<{
    readonly dryRun?: true
    readonly output?: string
    readonly sort?: 'size' | 'name'
    readonly threads?: number
    readonly only?: readonly string[]
    readonly level?: 'some' | 'all'
    readonly stats?: string | boolean
    readonly overwrite?: boolean
  }>()
  expectTypeOf<ConvertOptions['allowLoss']>().toEqualTypeOf<'none' | 'precision' | 'all' | undefined>()
  expectTypeOf<ConvertOptions['clip']>().toEqualTypeOf<[low: number, high: number] | undefined>()
})

test('help has a term for each form', () => {
  expect(longName('renameMap')).toBe('--rename-map')
  expect(Object.entries(flags).flatMap(([name, flag]) => flagTerms(name, flag).map(([term]) => term))).toEqual([
    '--dry-run',
    '-o, --output <file>',
    '--sort <key>',
    '--threads <n>',
    '--only <glob>',
    '--level [level]',
    '--stats [file]',
    '--no-stats',
    '--no-overwrite',
  ])
})
