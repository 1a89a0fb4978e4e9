// What is told by names and cards.
import { describe, expect, it } from 'vitest'
import { parseModelCard } from '../../src/families/general/model-card.js'
import { partsOfName, titleOf } from '../../src/families/general/name-parts.js'
import { sizeLabel } from '../../src/families/general/size-label.js'

describe('names', () => {
  it.each([
    ['Llama-3.2-8M-Instruct', 8e6, { basename: 'Llama-3.2', sizeLabel: '8M', finetune: 'Instruct' }],
    ['Mixtral-8x7B-v0.1', 4e6, { basename: 'Mixtral', sizeLabel: '8x7B', version: 'v0.1' }],
    ['tiny-llama', 8e6, {}],
    ['Phi-3-mini-128k-instruct', 4e6, { basename: 'Phi-3', sizeLabel: 'mini', finetune: '128k-instruct' }],
    ['bloom-7b1', 7.1e9, { basename: 'bloom', sizeLabel: '7.1B' }],
    ['org/Qwen3-30B-A3B', 30e9, { organization: 'org', basename: 'Qwen3', sizeLabel: '30B-A3B' }],
    ['org/Qwen3-30B-A3B', 30e12, { organization: 'org', basename: 'Qwen3', sizeLabel: 'A3B', finetune: '30b' }],
  ])('%s', (id, parameters, expected) => {
    const { name: _, ...parts } = partsOfName(id, parameters)
    expect(Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))).toEqual(expected)
  })

  it('become titles, but for versions and what begins with a digit', () => {
    expect(titleOf('s2orc-v1.5-mini')).toBe('S2Orc v1.5 Mini')
    expect(titleOf('OLMo-2-6m')).toBe('OLMo 2 6m')
  })
})

describe('sizes', () => {
  const label = (total: number): string => sizeLabel({ total, shared: total, expert: 0, experts: 0 })
  it.each([
    [8_300_000, '8.3M'],
    [16_600_000, '17M'],
    [8_250_000, '8.2M'],
    [16_500_000, '16M'],
    [999_600, '1000K'],
    [1_500, '1.5K'],
    [7_000_000_000, '7.0B'],
  ])('%d weights are %s', (count, expected) => expect(label(count)).toBe(expected))

  it('with experts count what one token passes through', () => {
    expect(sizeLabel({ total: 9e9, shared: 1e9, expert: 2e9, experts: 4 })).toBe('4x3.0B')
  })
})

describe('model cards', () => {
  it('takes words and numbers as Python does, and the last of equal settings', () => {
    const text = '---\nversion: 1e-5\ntags: [y, N, on]\nlicense: mit\nlicense: apache-2.0\n---\n'
    expect(parseModelCard(text)).toEqual({ version: '1e-5', tags: ['y', 'N', true], license: 'apache-2.0' })
  })

  it('are the YAML before the text', () => {
    expect(parseModelCard('---\nlicense: mit\nlanguage:\n- no\n- en\n---\n# Title\n')).toEqual({
      license: 'mit',
      language: ['no', 'en'],
    })
  })
  it.each(['# Title\n', '', '---\n: : :\n  - [\n---\n', '---\n- a\n---\n'])('say nothing in %j', (text) => {
    expect(parseModelCard(text)).toEqual({})
  })
})
