import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { useCompiled } from '../cli/compiled.js'

const root = resolve(import.meta.dirname, '../..')

/** A folder in which `tare` is installed as built from the sources. The function joins names to it. */
export function usePackage(): (...names: string[]) => string {
  const compiled = useCompiled()
  let folder = ''
  beforeAll(async () => {
    const { bundle } = await import(`${new URL('../../scripts/bundle.mjs', import.meta.url)}`)
    await bundle(compiled())
    folder = mkdtempSync(join(root, 'node_modules/.cache/tare-user-'))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'user', type: 'module' }))
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(dirname(compiled()), join(folder, 'node_modules/tare'), 'junction')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return (...names) => join(folder, ...names)
}
