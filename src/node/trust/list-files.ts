// The files of a model as a signature lists them: everything below a directory but what is ignored, or a single file.
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { failWith, ioCodes } from '../../errors/index.js'
import { signatureCodes } from '../../trust/index.js'
import { withIoErrors } from '../files/io-error.js'

export interface ListedFile {
  /** Below the model, with `/`; `.` if the model is this file. */
  readonly name: string
  readonly path: string
}

export interface ListOptions {
  readonly allowSymlinks: boolean
  /** Relative to the model, with everything below them. */
  readonly ignorePaths: readonly string[]
}

/** What git keeps beside a model is never part of it. */
export const gitPaths: readonly string[] = ['.git', '.gitattributes', '.github', '.gitignore']

/** All files of the model, in the order of their names. */
export async function listFiles(model: string, options: ListOptions): Promise<ListedFile[]> {
  const stats = await withIoErrors(model, () => stat(model))
  if (stats.isFile()) return [{ name: '.', path: model }]
  const found: ListedFile[] = []
  const ignored = new Set(options.ignorePaths.map((path) => path.replace(/^(\.\/)+|\/+$/g, '')))
  await walk(model, '', { ...options, ignored, model, above: [await realpath(model)] }, found)
  return found
}

interface Walk extends ListOptions {
  readonly ignored: ReadonlySet<string>
  readonly model: string
  /** The directories on the way here, to notice a link back to one of them. */
  readonly above: readonly string[]
}

async function walk(directory: string, below: string, options: Walk, found: ListedFile[]): Promise<void> {
  const names = await withIoErrors(directory, () => readdir(directory))
  for (const entry of names.sort()) {
    const name = below === '' ? entry : `${below}/${entry}`
    if (options.ignored.has(name)) continue
    const path = join(directory, entry)
    const file = join(options.model, name)
    if (entry.includes('\ufffd'))
      failWith(ioCodes['not-a-file'], { file, message: 'its name is not valid UTF-8, so it cannot be listed' })
    let stats = await withIoErrors(file, () => lstat(path))
    if (stats.isSymbolicLink()) {
      if (!options.allowSymlinks) failWith(signatureCodes.link, { file, message: 'this is a symbolic link' })
      stats = await withIoErrors(file, () => stat(path))
    }
    if (stats.isDirectory()) {
      const real = await realpath(path)
      if (options.above.includes(real))
        failWith(signatureCodes.link, { file, message: 'this link leads back to a directory above it' })
      await walk(path, name, { ...options, above: [...options.above, real] }, found)
    } else if (stats.isFile()) found.push({ name, path })
    else failWith(ioCodes['not-a-file'], { file, message: 'neither a file nor a directory' })
  }
}

/** Those of these files that are there. Their names come from a signature. */
export async function listNamed(
  model: string,
  names: readonly string[],
  allowSymlinks: boolean,
): Promise<ListedFile[]> {
  const home = await withIoErrors(model, () => realpath(model))
  const found: ListedFile[] = []
  for (const name of names) {
    const path = name === '.' ? model : join(model, name)
    const real = await realpath(path).catch(() => undefined)
    if (real === undefined) continue
    if (!allowSymlinks && name !== '.' && real !== join(home, name))
      failWith(signatureCodes.link, { file: path, message: 'this is a symbolic link, or lies behind one' })
    if ((await stat(real)).isFile()) found.push({ name, path })
  }
  return found
}

/** The path of a file relative to the model, with `/`; undefined if it is outside. */
export function pathBelow(model: string, file: string): string | undefined {
  const path = relative(resolve(model), resolve(file))
  if (path === '' || path.startsWith('..') || resolve(path) === path) return undefined
  return path.split(sep).join('/')
}
