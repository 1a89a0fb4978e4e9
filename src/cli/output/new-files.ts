// What is said about files before and after they are written: directories that were made for them, and files that they replaced.
import { rmdirSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { findingOf, ioCodes, isRemote } from '../../kit-node.js'
import { escapeName } from '../console/escape.js'
import { plural } from '../console/format-values.js'
import { onEarlyExit } from '../console/process-events.js'
import type { Context } from '../context.js'
import { OutputError } from '../input/run-inputs.js'

/** Runs what writes files of one directory, the main file first. The directory is made when it is not there. */
export async function writingTo<T>(context: Context, paths: readonly string[], work: () => Promise<T>): Promise<T> {
  const [main = '-'] = paths
  if (main === '-' || isRemote(main)) return work()
  const replaced = (await Promise.all(paths.map(isFile))).filter(Boolean).length
  const result = await inNewDirectory(context, dirname(main), work)
  const what = replaced === 1 ? 'the file that was there' : `${plural(replaced, 'file')} that were there`
  if (replaced > 0 && !context.json) context.console.remark(`${escapeName(main)}: replaced ${what}`)
  return result
}

const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isFile() ?? false

/** Makes the directory when it is not there, and removes it again when the work fails or is interrupted. */
async function inNewDirectory<T>({ console, json }: Context, directory: string, work: () => Promise<T>): Promise<T> {
  const made = await mkdir(directory, { recursive: true }).catch((error: Error) => {
    throw new OutputError(
      findingOf(ioCodes.failed, { file: directory, message: `the directory cannot be made: ${error.message}` }),
    )
  })
  const remove = (): void => removeEmpty(resolve(directory), made && resolve(made))
  const forget = onEarlyExit(remove)
  try {
    const result = await work()
    if (made !== undefined && !json) console.remark(`${escapeName(directory)}: the directory was made`)
    return result
  } catch (error) {
    remove()
    throw error
  } finally {
    forget()
  }
}

/** From a directory up to the first one that was made, while they are empty. Synchronous, because a process that ends does not wait. */
function removeEmpty(directory: string, first: string | undefined): void {
  try {
    for (let path = directory; first !== undefined && path.startsWith(first); path = dirname(path)) rmdirSync(path)
  } catch {}
}
