// The files of a model, by their paths from the directory of its main file.
import { dirname, isAbsolute, relative, sep } from 'node:path'
import type { ByteSource } from '../bytes/index.js'
import { isRemote } from './remote/remote-input.js'

/** A file of the model, opened through the main one; undefined for files that lie elsewhere. */
export async function openPartOf(main: ByteSource, name: string): Promise<ByteSource | undefined> {
  if (name === main.name) return main
  const path = pathFrom(main.name, name)
  return path === undefined ? undefined : openBeside(main, path)
}

/** `path` has slashes and leads from the directory of the main file. */
export async function openBeside(main: ByteSource, path: string): Promise<ByteSource | undefined> {
  return path.includes('/') ? main.below?.(path) : main.sibling?.(path)
}

/** The path from the directory of one file down to another, with slashes. */
export function pathFrom(main: string, name: string): string | undefined {
  if (isRemote(main)) {
    const isWeb = /^https?:/i.test(main)
    const home = isWeb ? new URL('.', main).href : main.slice(0, main.lastIndexOf('/') + 1)
    if (!name.startsWith(home)) return undefined
    return isWeb ? decodePath(name.slice(home.length)) : name.slice(home.length)
  }
  const path = relative(dirname(main), name)
  return isRemote(name) || isAbsolute(path) || path.startsWith('..') ? undefined : path.replaceAll(sep, '/')
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
