// The models below a directory. Each directory is looked at as `openInput` does: it may hold one model, with the files that belong to it.
// Model files that are left over are models of their own.
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { formats } from '../formats/index.js'
import { isOneModel } from '../formats/main-file.js'
import { withIoErrors } from './files/io-error.js'

/** No real collection is nested nearly as deep. */
const maxDepth = 64

/** A pipeline of several models, each in a folder of its own, has this file at its top. */
const pipelineIndex = 'model_index.json'

/** Shards belong to the index beside them, and are opened with it. */
const shard = /-\d{3,}-of-\d{3,}\./

/** Whether the directory is a pipeline of several models rather than one. */
export const isPipeline = async (directory: string): Promise<boolean> =>
  (await listFiles(directory).catch((): string[] => [])).includes(pipelineIndex)

/** Paths that `openInput` takes, in the order of their names. Hidden directories and links to directories are left out. */
export async function findModels(directory: string, depth = 0): Promise<string[]> {
  const files = await listFiles(directory)
  const mains = new Set(formats.flatMap((format) => format.mainFile?.(files) ?? []))
  const isWhole = mains.size > 0 && isOneModel(mains, formats)
  const own = isWhole ? [directory] : [...mains].sort().map((name) => join(directory, name))
  const others = files.filter((name) => !mains.has(name) && isModelName(name) && !(isWhole && shard.test(name)))
  const found = [...own, ...others.map((name) => join(directory, name))]
  if (depth >= maxDepth) return found
  for (const name of await listFolders(directory)) found.push(...(await findModels(join(directory, name), depth + 1)))
  return found
}

/** Few .json files are models. */
const isModelName = (name: string): boolean =>
  formats.some(({ extensions }) =>
    extensions.some((extension) => !extension.endsWith('.json') && name.toLowerCase().endsWith(extension)),
  )

/** The models in the directories right below, for a message. */
export const findModelsBelow = async (directory: string): Promise<string[]> =>
  (await findModels(directory, maxDepth - 1)).map((path) => relative(directory, path))

/** The names of plain files. */
export async function listFiles(directory: string): Promise<string[]> {
  const entries = await withIoErrors(directory, () => readdir(directory, { withFileTypes: true }))
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort()
}

async function listFolders(directory: string): Promise<string[]> {
  const entries = await withIoErrors(directory, () => readdir(directory, { withFileTypes: true }))
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort()
}
