// Which of the files that were dropped together are one model. A folder that holds one model is opened as a whole, with its configuration
// and tokenizer; shards go with their index; every other model file is a model of its own that can find its neighbours.
import type { Format } from 'tare/kit'
import type { FileGroup } from './open.js'

type NamedFormat = Pick<Format, 'mainFile' | 'extensions'>

/** Part two of three, as in `model-00002-of-00003.safetensors`; the first part stands for all where there is no index. */
const laterShard = /-(?!0*1-of-)\d{3,}-of-\d{3,}\./

export function groupFiles(paths: readonly string[], formats: readonly NamedFormat[]): FileGroup[] {
  const groups: FileGroup[] = []
  for (const [folder, names] of byFolder(paths)) {
    const inFolder = paths.filter((path) => path.startsWith(folder))
    const answers = formats.flatMap((format) => format.mainFile?.(names) ?? [])
    // A format may name a file that is not among those that are looked at: its name begins with a dot, or it is missing.
    const mains = new Set(answers.filter((name) => inFolder.includes(folder + name)))
    const isWhole = mains.size === 1 && names.some((name) => !mains.has(name))
    const others = names.filter(
      (name) => !mains.has(name) && isModelName(name, formats) && !belongs(name, mains, formats),
    )
    for (const name of [...mains, ...others]) {
      const main = folder + name
      groups.push({
        paths: [main, ...inFolder.filter((path) => path !== main)],
        isFolder: isWhole && mains.has(name),
      })
    }
  }
  // Whatever it is, opening it says what is wrong with it.
  if (groups.length === 0) return paths.slice(0, 1).map((path) => ({ paths: [path], isFolder: false }))
  return groups
}

/** Shards belong to the index, or to the first of them; other parts to the file that their format names for them. */
const belongs = (name: string, mains: ReadonlySet<string>, formats: readonly NamedFormat[]): boolean =>
  laterShard.test(name) ||
  (mains.size > 0 && /-\d{3,}-of-\d{3,}\./.test(name)) ||
  formats.some((format) => mains.has(format.mainFile?.([name]) ?? name))

/** Few .json files are models. */
const isModelName = (name: string, formats: readonly NamedFormat[]): boolean =>
  formats.some(({ extensions }) =>
    extensions.some((extension) => !extension.endsWith('.json') && name.toLowerCase().endsWith(extension)),
  )

function byFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>()
  for (const path of paths) {
    const name = path.replace(/^.*\//, '')
    if (name.startsWith('.')) continue
    const folder = path.slice(0, path.length - name.length)
    const names = folders.get(folder)
    if (names) names.push(name)
    else folders.set(folder, [name])
  }
  return folders
}
