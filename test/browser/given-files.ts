// The fixtures as pages get them: all in one file, to be cut into Blobs there. A thousand small requests would take longer than the tests.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { BlobSource } from '../../src/bytes/index.js'
import { formats } from '../../src/kit.js'
import { fixturePath, fixturesRoot, isAccepted, presentCases } from '../support/fixtures.js'
import { type Given, openGiven, type Places } from './page/models.js'

export interface GivenCase extends Given {
  readonly format: string
  readonly isAccepted: boolean
}

const placeOf = (path: string): string => relative(fixturesRoot, path).replaceAll(sep, '/')

/** Every case whose files are part of the project. */
const givenCases: readonly GivenCase[] = formats.flatMap(({ id }) =>
  presentCases(id)
    .filter(({ file }) => fixturePath(id, file).startsWith(fixturesRoot))
    .map((each) => ({ ...givenAt(fixturePath(id, each.file), each.file), format: id, isAccepted: isAccepted(each) })),
)

/** A file of a set lies in a folder of its own, together with the others. */
function givenAt(path: string, file: string): Given {
  const siblings: Record<string, string> = {}
  if (file.includes('/')) {
    for (const entry of readdirSync(dirname(path), { withFileTypes: true, recursive: true })) {
      const each = join(entry.parentPath, entry.name)
      if (entry.isFile()) siblings[relative(dirname(path), each).replaceAll(sep, '/')] = placeOf(each)
    }
  }
  return { name: basename(file), place: placeOf(path), siblings }
}

export const formatIds: readonly string[] = formats.map(({ id }) => id)

export const filesOf = (format: string): GivenCase[] => givenCases.filter((each) => each.format === format)

/** A few of them, evenly spread. */
export function spread<T>(all: readonly T[], most: number): T[] {
  const count = Math.min(all.length, most)
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!)
}

/** Writes the files one behind the other, and gives back where each of them is. */
export function packFiles(target: string): Places {
  const places: Record<string, readonly [start: number, end: number]> = {}
  const parts: Uint8Array[] = []
  let end = 0
  for (const place of new Set(givenCases.flatMap((each) => [each.place, ...Object.values(each.siblings)]))) {
    const bytes = readFileSync(join(fixturesRoot, place))
    parts.push(bytes)
    places[place] = [end, end + bytes.byteLength]
    end += bytes.byteLength
  }
  writeFileSync(target, Buffer.concat(parts))
  return places
}

export const openHere = (given: Given): Promise<BlobSource> =>
  openGiven(given, (place) => new Blob([readFileSync(join(fixturesRoot, place))]))
