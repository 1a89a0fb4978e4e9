import { expect, it } from 'vitest'
import { filesOf, formatIds, openHere, spread } from '../given-files.js'
import { describeFile, examineFile } from '../page/models.js'
import { callIn, type Use } from '../site.js'

/** Files tried per format. TARE_THOROUGH=1 tries all. */
const most = process.env.TARE_THOROUGH ? Number.POSITIVE_INFINITY : 16

export function fileSuite({ page }: Use): void {
  // Half of the fixtures or more are hostile. The same codes, offsets, paths and words are wanted for them.
  it.each(formatIds)('of %s: the same findings and the same content as in Node', async (id) => {
    const files = spread(filesOf(id), most)
    const found = callIn(page(), 'page', 'describeFiles', files)
    const wanted = await Promise.all(files.map(async (each) => describeFile(await openHere(each))))
    expect(files.length).toBeGreaterThan(0)
    expectEach(files, await found, wanted)
  })

  it.each(formatIds)('of %s: the same digests, statistics and byte map', async (id) => {
    const files = spread(
      filesOf(id).filter((each) => each.isAccepted),
      2,
    )
    const found = callIn(page(), 'page', 'examineFiles', files)
    const wanted = await Promise.all(files.map(async (each) => examineFile(await openHere(each))))
    expect(files.length).toBeGreaterThan(0)
    expectEach(files, await found, wanted)
  })

  it('that changed since they were chosen are refused with a code and an offset', async () => {
    expect(await callIn(page(), 'page', 'readChanged')).toBe('io/changed @ 100 undefined')
  })
}

/** One by one: the difference between two files is shorter than that between two lists. */
function expectEach(files: readonly { place: string }[], found: readonly string[], wanted: readonly string[]): void {
  for (const [i, { place }] of files.entries()) {
    if (found[i] !== wanted[i]) expect(JSON.parse(found[i]!), place).toEqual(JSON.parse(wanted[i]!))
    expect(found[i], place).toBe(wanted[i])
  }
}
