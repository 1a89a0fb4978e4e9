import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/**
 * Compiles the sources for this test file, so that child processes can run them. The place is inside node_modules, where packages are
 * found. The function joins names to the output directory.
 */
export function useCompiled(): (...names: string[]) => string {
  let directory = ''
  beforeAll(() => {
    const cache = join(root, 'node_modules/.cache')
    mkdirSync(cache, { recursive: true })
    directory = mkdtempSync(join(cache, 'tare-test-'))
    copyFileSync(join(root, 'package.json'), join(directory, 'package.json'))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    spawnSync(process.execPath, [
      compiler,
      '-p',
      join(root, 'tsconfig.build.json'),
      '--outDir',
      join(directory, 'dist'),
    ])
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return (...names) => join(directory, 'dist', ...names)
}
