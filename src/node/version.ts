// The version of this package: what machines that work together must agree on.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

let known: string | undefined

/** From the manifest of the package, which lies above all of its modules. */
export function packageVersion(): string {
  if (known !== undefined) return known
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  known = String(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version)
  return known
}
