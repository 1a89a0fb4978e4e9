// What inputs are made from: the fixtures of each format, sound and hostile, and inputs of earlier runs that reached new code.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { maxInput, piecesOf } from './mutate.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const corpusFolder = join(root, 'fuzz', 'corpus')

/** An input is a file with the files beside it, which sets need. Those that are made to cost time are taken seldom, those kept often. */
export async function seedsOf(format) {
  const files = []
  for (const folder of readdirSync(join(root, 'fixtures'))) {
    const list = join(root, 'fixtures', folder, 'cases.json')
    if (!existsSync(list)) continue
    for (const { file, format: own = folder } of JSON.parse(readFileSync(list, 'utf8')).cases)
      if (own === format) files.push(join(root, 'fixtures', folder, file))
  }
  const kept = join(corpusFolder, format)
  files.push(...keptFiles(kept))
  const seeds = []
  for (const file of files) {
    if (!existsSync(file) || !statSync(file).isFile()) continue
    const kind = { isCostly: /bomb/.test(file), isKept: file.startsWith(kept) }
    const seed = { bytes: new Uint8Array(readFileSync(file)), name: basename(file), siblings: setOf(file), ...kind }
    if (seed.bytes.length > 0 && seed.bytes.length <= maxInput)
      seeds.push({ ...seed, pieces: await piecesOf(seed, format) })
  }
  return seeds
}

/** Files, and the indexes of sets, which are folders. */
function keptFiles(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isFile()) return [path]
    return readdirSync(path)
      .filter((each) => each.endsWith('.json'))
      .map((each) => join(path, each))
  })
}

/** The other files of a set; its folder holds nothing else. */
function setOf(file) {
  const files = new Map()
  if (!/[/\\]sets[^/\\]*[/\\]|\.index\.json$|-of-\d+\.|\.metadata$/.test(file)) return files
  for (const name of readdirSync(dirname(file))) {
    const path = join(dirname(file), name)
    if (statSync(path).isFile()) files.set(name, new Uint8Array(readFileSync(path)))
  }
  return files
}
