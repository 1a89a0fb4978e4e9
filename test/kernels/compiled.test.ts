import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const build = await import(`${new URL('../../scripts/build-kernels.mjs', import.meta.url)}`)

it.each(Object.keys(build.modules))('the bytes of %s are what its folder compiles to', async (name) => {
  const { compileKernels, generatedFile, generatedText } = build
  expect(readFileSync(generatedFile(name), 'utf8')).toBe(generatedText(name, await compileKernels(name)))
})
