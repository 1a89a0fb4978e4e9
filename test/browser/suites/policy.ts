import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { filesOf, formatIds, openHere, spread } from '../given-files.js'
import { examineFile } from '../page/models.js'
import { callIn, type Use } from '../site.js'

/** A page whose policy forbids WebAssembly. */
export function policySuite({ site }: Use): void {
  let page: Page
  beforeAll(async () => {
    page = await site().open('strict')
  })
  afterAll(() => page?.close())

  it('leaves the plain twins of all kernels, with the same results', async () => {
    const running = await callIn(page, 'kernel-tests', 'running')
    expect(running).toEqual({ numbers: false, mcf: false, ggml: false, digests: false })
    const unavailable: string[] = []
    for (const id of formatIds) {
      const [file] = spread(
        filesOf(id).filter((each) => each.isAccepted),
        1,
      )
      const [found] = await callIn(page, 'page', 'examineFiles', [file!])
      if (found!.includes('zstd/unavailable')) unavailable.push(id, found!)
      else expect(JSON.parse(found!), id).toEqual(JSON.parse(await examineFile(await openHere(file!))))
    }
    // Their index is packed, and there is no plain decoder.
    expect(unavailable).toEqual([
      'aero',
      expect.stringMatching(/zstd.unavailable @ \d+ chunks/),
      'aeroset',
      expect.any(String),
    ])
  })

  it('ends a conversion that needs the encoder', async () => {
    await page.clock.install()
    const wish = { target: 'aero', extra: { 'tensor-hashes': 'off' } }
    let answer: string | undefined
    const running = callIn(page, 'page', 'tryConversion', '/files/tiny-mlp.safetensors', wish).then((each) => {
      answer = each
    })
    while (answer === undefined) await page.clock.fastForward(31_000)
    await running
    expect(answer).toMatch(/^zstd\/unavailable/)
  })
}
