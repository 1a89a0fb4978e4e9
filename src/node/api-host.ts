// Paths for the calls of src/api: what they name as inputs, and where an output goes.
import { mkdir, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Host, type Place, type PlaceRequest, registerHost } from '../api/host.js'
import type { ByteSink, ByteSource } from '../bytes/index.js'
import { failWith, ioCodes, usageCodes } from '../errors/index.js'
import { type FormatId, formatForOutput, formats, requireFormat } from '../formats/index.js'
import type { Format } from '../model/index.js'
import { openSpool } from './files/append-spool.js'
import { FileSource } from './files/file-source.js'
import { withIoErrors } from './files/io-error.js'
import { openInput } from './input.js'
import { openOutput, pathIn } from './output.js'
import { isRemote, openAddress } from './remote/remote-input.js'

const host: Host = {
  openPath: async (path, options) => openInput(path.startsWith('file:') ? pathOfUrl(path) : path, options),
  openAddress,
  place,
  openSpool: () => openSpool(),
}

export const registerNodeHost = (): void => registerHost(host)

function pathOfUrl(address: string): string {
  try {
    return fileURLToPath(address)
  } catch (error) {
    return failWith(usageCodes.option, { file: address, message: (error as Error).message }, { cause: error })
  }
}

/** A file, or a directory that gets the model and the files that belong to it. */
async function place(output: string, request: PlaceRequest): Promise<Place> {
  const stats = output === '-' ? undefined : await stat(output).catch(() => undefined)
  const isDirectory = stats?.isDirectory() ?? /[/\\]$/.test(output)
  const format = formatFor(isDirectory ? undefined : output, request.to, isDirectory)
  const folder = isDirectory && canBeFolder(format)
  const directory = isDirectory ? output : dirname(output)
  const pathOf = (name: string): string => (output === '-' ? '-' : pathIn(directory, name))
  const mainName = isDirectory
    ? folder
      ? format.published![0]!
      : `model${format.extensions[0] ?? ''}`
    : basename(output)
  return {
    format: format.id as FormatId,
    name: output === '-' ? `model${format.extensions[0] ?? ''}` : mainName,
    folder,
    pathOf,
    open: (name) => openGuarded(pathOf(name), request, isDirectory ? directory : undefined),
  }
}

const canBeFolder = (format: Format): boolean => format.capabilities.write?.folder === true && !!format.published

function formatFor(output: string | undefined, to: FormatId | undefined, isDirectory: boolean): Format {
  if (to !== undefined) return requireFormat(to)
  const found = isDirectory ? formats.find(canBeFolder) : formatForOutput(basename(output!))
  if (found) return found
  const message = 'the name does not say which format to write; set `to`'
  return failWith(usageCodes.option, { file: output ?? '', message })
}

/** No input is written over, and nothing becomes visible when an input changed while it was read. */
async function openGuarded(
  path: string,
  { inputs, overwrite }: PlaceRequest,
  directory: string | undefined,
): Promise<ByteSink> {
  await assertNotInput(path, inputs)
  const made =
    directory === undefined || isRemote(directory)
      ? undefined
      : await withIoErrors(directory, () => mkdir(directory, { recursive: true }))
  const beforeCommit = async (): Promise<void> => {
    for (const input of inputs) await input.assertUnchanged?.()
  }
  try {
    return await openOutput(path, { ...(overwrite !== undefined && { overwrite }), beforeCommit })
  } catch (error) {
    if (made !== undefined) await rmdir(resolve(directory!)).catch(() => {})
    throw error
  }
}

async function assertNotInput(output: string, inputs: readonly ByteSource[]): Promise<void> {
  const there = output === '-' ? undefined : await stat(output).catch(() => undefined)
  if (!there) return
  for (const input of inputs)
    for (const path of input instanceof FileSource ? await input.openPaths() : []) {
      const { dev, ino } = await stat(path)
      if (dev === there.dev && ino === there.ino)
        failWith(ioCodes.exists, { file: output, message: 'this is the input itself; choose another name' })
    }
}
