// The files of a model as a signature lists them: everything below a directory but what is ignored, or a single file. At an address the same
// names come in the same order, so that a signature holds wherever the model is.
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ByteSource } from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { signatureCodes } from '../../trust/index.js'
import { placeAt } from '../fetch/index.js'
import { FileSource } from '../files/file-source.js'
import { withIoErrors } from '../files/io-error.js'
import { isRemote, type RemoteOptions } from '../remote/remote-input.js'

export interface ListedFile {
  /** Below the model, with `/`; `.` if the model is this file. */
  readonly name: string
  /** Where it is: its path, or its address. */
  readonly path: string
  open(): Promise<ByteSource>
}

export interface ListOptions {
  readonly allowSymlinks: boolean
  /** Relative to the model, with everything below them. */
  readonly ignorePaths: readonly string[]
  /** For a model at an address. */
  readonly remote?: RemoteOptions | undefined
}

/** What git keeps beside a model is never part of it. */
export const gitPaths: readonly string[] = ['.git', '.gitattributes', '.github', '.gitignore']

/** All files of the model, in the order of their names. */
export async function listFiles(model: string, options: ListOptions): Promise<ListedFile[]> {
  const ignored = new Set(options.ignorePaths.map((path) => path.replace(/^(\.\/)+|\/+$/g, '')))
  if (isRemote(model)) {
    const isIgnored = (name: string): boolean => foldersOf(name).some((path) => ignored.has(path))
    return (await listRemote(model, options.remote)).filter(({ name }) => !isIgnored(name))
  }
  const stats = await withIoErrors(model, () => stat(model))
  if (stats.isFile()) return [localFile('.', model)]
  const found: ListedFile[] = []
  await walk(model, '', { ...options, ignored, model, above: [await realpath(model)] }, found)
  return found
}

const localFile = (name: string, path: string): ListedFile => ({ name, path, open: () => FileSource.open(path) })

async function listRemote(model: string, options: RemoteOptions | undefined): Promise<ListedFile[]> {
  const { isFolder, files, leftOut } = await placeAt(model, options)
  if (leftOut[0] !== undefined) {
    const message = 'no directory could have it under this name, or it is too many folders down'
    failWith(ioCodes['unsafe-path'], { file: leftOut[0], message })
  }
  return files
    .map(({ path, address, open }) => ({ name: isFolder ? path : '.', path: address, open }))
    .sort((a, b) => compareParts(a.name.split('/'), b.name.split('/')))
}

/** As a walk through directories meets them. */
function compareParts(a: readonly string[], b: readonly string[]): number {
  const i = a.findIndex((part, i) => part !== b[i])
  return i < 0 || b[i] === undefined ? a.length - b.length : a[i]! < b[i] ? -1 : 1
}

/** `a`, `a/b` and `a/b/c` of the last one. */
function foldersOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
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
    } else if (stats.isFile()) found.push(localFile(name, path))
    else failWith(ioCodes['not-a-file'], { file, message: 'neither a file nor a directory' })
  }
}

/** Those of these files that are there. Their names come from a signature. */
export async function listNamed(
  model: string,
  names: readonly string[],
  { allowSymlinks, remote }: Omit<ListOptions, 'ignorePaths'>,
): Promise<ListedFile[]> {
  if (isRemote(model)) {
    const wanted = new Set(names)
    return (await listRemote(model, remote)).filter(({ name }) => wanted.has(name))
  }
  const home = await withIoErrors(model, () => realpath(model))
  const found: ListedFile[] = []
  for (const name of names) {
    const path = name === '.' ? model : join(model, name)
    const real = await realpath(path).catch(() => undefined)
    if (real === undefined) continue
    if (!allowSymlinks && name !== '.' && real !== join(home, name))
      failWith(signatureCodes.link, { file: path, message: 'this is a symbolic link, or lies behind one' })
    if ((await stat(real)).isFile()) found.push(localFile(name, path))
  }
  return found
}
