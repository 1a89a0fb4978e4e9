// Fixture folders as tests see them: the cases, and each file as a source with its neighbours as siblings.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MemorySource } from '../../src/kit.js'

export interface FixtureTensor {
  readonly name: string
  readonly path?: readonly string[]
  readonly stat?: string | null
  readonly dtype: string
  readonly shape: readonly (number | string)[]
  readonly sha256?: string | null
  readonly decodedF32Sha256?: readonly string[]
}

export interface FixtureCase {
  readonly file: string
  readonly verdict: 'accept' | 'warn' | 'flag' | 'reject'
  readonly check?: string
  readonly format?: string
  readonly tensors?: readonly FixtureTensor[]
}

export const fixturesRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'fixtures')

/** Some files are not ours to publish; they are read from a folder beside the project, where it is there. */
export const besideRoot = join(fixturesRoot, '..', '..', 'shared', 'fixtures')

/** Every case of every folder, by the format that it is for: the one it names, or else its folder's. */
const byFormat = new Map<string, { readonly folder: string; readonly each: FixtureCase }[]>()
for (const folder of readdirSync(fixturesRoot)) {
  const list = join(fixturesRoot, folder, 'cases.json')
  if (!existsSync(list)) continue
  for (const each of (JSON.parse(readFileSync(list, 'utf8')) as { cases: FixtureCase[] }).cases) {
    const format = each.format ?? folder
    if (!byFormat.has(format)) byFormat.set(format, [])
    byFormat.get(format)!.push({ folder, each })
  }
}

/** All cases of a format. Those whose file is neither here nor beside the project are skipped: see `isPresent`. */
export const loadCases = (format: string): FixtureCase[] => (byFormat.get(format) ?? []).map(({ each }) => each)

/** The cases that can be run here. */
export const presentCases = (format: string): FixtureCase[] =>
  loadCases(format).filter((each) => isPresent(format, each.file))

export const isPresent = (format: string, file: string): boolean => existsSync(fixturePath(format, file))

export function fixturePath(format: string, file: string): string {
  const folder = byFormat.get(format)?.find(({ each }) => each.file === file)?.folder ?? format
  const here = join(fixturesRoot, folder, file)
  return existsSync(here) ? here : join(besideRoot, folder, file)
}

export function fixtureBytes(format: string, file: string): Uint8Array {
  return new Uint8Array(readFileSync(fixturePath(format, file)))
}

/** The file as a source; the other files of its folder, and of folders below, are siblings when it is one of a set. */
export function fixtureSource(
  format: string,
  file: string,
  bytes: Uint8Array = fixtureBytes(format, file),
): MemorySource {
  const folder = dirname(fixturePath(format, file))
  const siblings = new Map<string, Uint8Array>()
  if (file.includes('/')) {
    for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isFile()) siblings.set(relative(folder, path).replaceAll(sep, '/'), new Uint8Array(readFileSync(path)))
    }
  }
  return new MemorySource(bytes, basename(file), siblings)
}

export const isAccepted = (each: FixtureCase): boolean => each.verdict === 'accept' || each.verdict === 'warn'
