// What a model is called in its signature, and where that signature is.
import { stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { isRemote, type RemoteOptions } from '../remote/remote-input.js'

/** The name of a file or directory, or the last one of an address. */
export async function nameOfModel(model: string): Promise<string> {
  return isRemote(model) ? (await import('./remote-place.js')).nameOfAddress(model) : basename(resolve(model))
}

/** The path of a file relative to the model, with `/`; undefined if it is outside. */
export async function pathBelow(model: string, file: string): Promise<string | undefined> {
  if (isRemote(model)) return (await import('./remote-place.js')).pathBelowAddress(model, file)
  const path = relative(resolve(model), resolve(file))
  if (isRemote(file) || path === '' || path.startsWith('..') || resolve(path) === path) return undefined
  return path.split(sep).join('/')
}

/** Where a signature is written and looked for: `model.sig` in a directory, `NAME.sig` beside a file, and the same at an address. */
export async function signatureOf(model: string, options?: RemoteOptions): Promise<string> {
  if (isRemote(model)) return (await import('./remote-place.js')).signatureAt(model, options)
  const stats = await stat(model).catch(() => undefined)
  return stats?.isDirectory() ? join(model, 'model.sig') : `${model}.sig`
}
