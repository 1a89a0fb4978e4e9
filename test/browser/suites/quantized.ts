import { expect, it } from 'vitest'
import { digestsOfMethods } from '../page/quantized.js'
import { callIn, type Use } from '../site.js'

export function quantizedSuite({ page }: Use): void {
  it('gives the bytes of Node with every method, with importance weights and as the reference does, also in workers', async () => {
    const here = await digestsOfMethods()
    // 25 types of ggml, 3 of which need weights, and 8 methods of MCF.
    expect(Object.keys(here).length).toBe(33 * 4 - 3 * 2)
    expect(await callIn(page(), 'page', 'digestsOfMethods')).toEqual(here)
    expect(await callIn(page(), 'page', 'openPool', 'methods', 3)).toBe(true)
    expect(await callIn(page(), 'page', 'digestsOfMethods', 'methods')).toEqual(here)
    await callIn(page(), 'page', 'closePool', 'methods')
  })
}
