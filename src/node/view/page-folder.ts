// The built page: a folder of static files beside the compiled library.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { typeOf } from './headers.js'

export interface PageFile {
  readonly type: string
  read(): Buffer
}

/** `dist/viewer`, as seen from the bundle, from the compiled modules and from the sources. */
export function findPageFolder(): string | undefined {
  return ['../viewer/', '../../viewer/', '../../../dist/viewer/']
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((folder) => existsSync(join(folder, 'index.html')))
}

/** All files of the folder by their paths, with slashes. What is not in this list is not served. */
export function listPage(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const place = join(entry.parentPath, entry.name)
    const path = relative(folder, place).replaceAll(sep, '/')
    files.set(path, { type: typeOf(extname(entry.name)), read: () => readFileSync(place) })
  }
  return files
}
