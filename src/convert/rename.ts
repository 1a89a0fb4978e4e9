// New names for tensors, by rules for many or by a map for some.
import { failWith, usageCodes, writeCodes } from '../errors/index.js'
import type { Tensor } from '../model/index.js'
import { parseRename } from '../transforms/select.js'

/** A name that the map has is final; on all others the rules work, one after the other. */
export function renamer(
  rules: readonly string[] = [],
  map: ReadonlyMap<string, string> = new Map(),
): (name: string) => string {
  const renames = rules.map(parseRename)
  return (name) => map.get(name) ?? renames.reduce((old, rename) => rename(old), name)
}

/** Every name in the map must be there: one that is not is most likely a slip, and would go unnoticed. */
export function checkRenameMap(
  map: ReadonlyMap<string, string> | undefined,
  tensors: readonly Tensor[],
  file: string,
): void {
  if (!map || map.size === 0) return
  const names = new Set(tensors.map(({ name }) => name))
  for (const [name, to] of map) {
    if (!names.has(name)) {
      const message = `there is no tensor of this name, which is to be called ${JSON.stringify(to)}`
      failWith(usageCodes['no-such-tensor'], { file, path: name, message })
    }
  }
}

/** Two tensors of one name are refused with what both were called before. `before` and `after` go by pairs. */
export function checkUniqueNames(before: readonly string[], after: readonly string[], file: string): void {
  if (new Set(after).size === after.length) return
  const known = new Map<string, number>()
  for (const [i, name] of after.entries()) {
    const first = known.get(name)
    if (first === undefined) {
      known.set(name, i)
      continue
    }
    const [a, b, both] = [before[first]!, before[i]!, name].map((each) => JSON.stringify(each))
    const message = a === b ? `two tensors would be called ${both}` : `${a} and ${b} would both be called ${both}`
    failWith(writeCodes['duplicate-name'], { file, path: name, message })
  }
}
