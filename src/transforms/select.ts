// Selects and renames tensors.
import { callerWord, failWith, usageCodes } from '../errors/index.js'
import type { Tensor } from '../model/index.js'
import { globMatcher } from './glob.js'

export const matchesGlob = (pattern: string, name: string): boolean => globMatcher(pattern)(name)

/** Matches names that some `only` pattern matches (all, if there is none) and no `exclude` pattern does. */
export function selector(only: readonly string[] = [], exclude: readonly string[] = []): (name: string) => boolean {
  const wanted = only.map(globMatcher)
  const unwanted = exclude.map(globMatcher)
  return (name) =>
    (wanted.length === 0 || wanted.some((matches) => matches(name))) && !unwanted.some((matches) => matches(name))
}

/** Even a simple expression such as `.*\\.x` takes quadratic time in the length of a name. No real name is nearly this long. */
const maxRenamed = 16_384

/** `s/pattern/replacement/flags`, with any delimiter; `$1` in the replacement is the first group. */
export function parseRename(rule: string): (name: string) => string {
  const delimiter = rule[1]
  const [, pattern, replacement, flags, ...rest] = delimiter === undefined ? [] : rule.split(delimiter)
  const wrong = (why: string): never =>
    failWith(usageCodes.option, {
      file: callerWord('--rename', 'rename'),
      message: `${JSON.stringify(rule)}: ${why}; write it as s/old/new/`,
    })
  if (rule[0] !== 's' || pattern === undefined || replacement === undefined || rest.length > 0)
    return wrong('not a rename rule')
  if (!/^[gi]*$/.test(flags ?? '')) return wrong(`the flags ${flags} are not known`)
  let expression: RegExp
  try {
    expression = new RegExp(pattern, `u${flags ?? ''}`)
  } catch (error) {
    return wrong((error as Error).message)
  }
  return (name) => {
    if (name.length <= maxRenamed) return name.replace(expression, replacement)
    const message = `a name of ${name.length} characters is too long for a rule; rules take ${maxRenamed} at most, ${callerWord('--rename-map', 'a map of names')} any`
    return failWith(usageCodes.option, {
      file: callerWord('--rename', 'rename'),
      path: `${name.slice(0, 40)}…`,
      message,
    })
  }
}

/** The renamed tensor, without the path and raw bytes of its old name. */
export function renameTensor(tensor: Tensor, name: string): Tensor {
  if (name === tensor.name) return tensor
  const { path: _path, rawName: _rawName, isNamedByFile: _isNamedByFile, ...rest } = tensor
  return { ...rest, name }
}
