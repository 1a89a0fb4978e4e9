// What the fixtures promise beyond tensors and verdicts: the layout, the vocabulary, the metadata, and which check speaks.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { vocabularyOf } from '../../../src/content/vocabulary.js'
import { openModel, verifySource } from '../../../src/kit.js'
import { fixturePath, fixtureSource } from '../../support/fixtures.js'

interface Listed {
  readonly file: string
  readonly layout: string
  readonly expect: 'accept' | 'accept-warn' | 'reject'
  readonly check?: string
  readonly also_fires?: readonly string[]
  readonly check_alternatives?: readonly string[]
  readonly content?: {
    readonly metadata?: readonly (readonly [string, string])[]
    readonly vocab?: { count: number; sha256_newline_joined: string; special_ids?: Record<string, number> } | null
  }
}

const { files } = JSON.parse(readFileSync(fixturePath('embd', 'manifest.json'), 'utf8')) as { files: Listed[] }
const named = (checks: readonly (string | undefined)[]): string[] =>
  checks.map((check) => `embd/${check?.replaceAll('_', '-')}`)

describe('every fixture', () => {
  // An empty file is nobody's, and is refused before any format sees it.
  it.each(files.filter(({ file, check }) => check && file !== 'stream-empty-file.bin'))(
    '$file: $check',
    async (each) => {
      const { findings } = await verifySource(fixtureSource('embd', each.file))
      const found = findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
      const right = named([each.check, ...(each.check_alternatives ?? [])])
      // A wrong magic under a name that says nothing is no EMBD file at all.
      if (found.includes('open/unknown-format')) expect(each.check).toBe('magic')
      else {
        expect(
          found.some((code) => right.includes(code)),
          found.join(),
        ).toBe(true)
        const allowed = [...right, ...named(each.also_fires ?? [])]
        expect(found.filter((code) => !allowed.includes(code))).toEqual([])
      }
    },
  )

  it.each(files.filter(({ content }) => content))('$file has its content', async ({ file, layout, content }) => {
    const model = await openModel(fixtureSource('embd', file))
    expect(model.variant).toBe(layout)
    expect([...model.metadata].map(([key, value]) => [key, value.type === 'str' && value.value])).toEqual(
      content!.metadata ?? [],
    )
    const vocabulary = vocabularyOf(model.parts)
    const wanted = content!.vocab
    expect(vocabulary?.tokens.length ?? 0).toBe(wanted?.count ?? 0)
    if (!wanted || !vocabulary) return
    const text = Buffer.concat(
      vocabulary.tokens.flatMap((token, i) => (i === 0 ? [token] : [Buffer.from('\n'), token])),
    )
    expect(createHash('sha256').update(text).digest('hex')).toBe(wanted.sha256_newline_joined)
    if (wanted.special_ids) expect(vocabulary.special).toEqual(wanted.special_ids)
  })

  it('finds special ids by text where there is no block of them', async () => {
    const model = await openModel(fixtureSource('embd', 'sect-vocab-no-special-block.weights'))
    expect(vocabularyOf(model.parts)!.special).toEqual({ pad: 0, unk: 1, cls: 2, sep: 3, mask: 4 })
  })
})
