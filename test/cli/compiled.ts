import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, inject } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/**
 * Compiled sources, so that child processes can run them: the first test file that asks compiles them, the others wait. The place is inside
 * node_modules, where packages are found. The function joins names to the output directory.
 */
export function useCompiled(): (...names: string[]) => string {
  const directory = inject('compiledDirectory')
  const done = join(directory, 'done')
  beforeAll(async () => {
    if (isFirst(join(directory, 'begun'))) {
      compile(directory)
      writeFileSync(done, '')
    }
    while (!existsSync(done)) await sleep(50)
  }, 120_000)
  return (...names) => join(directory, 'dist', ...names)
}

/** Only one process can create a directory. */
function isFirst(directory: string): boolean {
  try {
    mkdirSync(directory)
    return true
  } catch {
    return false
  }
}

function compile(directory: string): void {
  copyFileSync(join(root, 'package.json'), join(directory, 'package.json'))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const project = join(root, 'tsconfig.build.json')
  spawnSync(process.execPath, [compiler, '-p', project, '--outDir', join(directory, 'dist')])
}
