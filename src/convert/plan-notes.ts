// What was asked for and changes nothing. None of it is a loss, but most of it is a slip of the pen: it is said in the plan. To choose
// tensors and get none is refused, since nobody wants a file without any.
import { failWith, usageCodes } from '../errors/index.js'
import type { Format, Model, OptionValues, WriteCapabilities } from '../model/index.js'
import { globMatcher } from '../transforms/glob.js'
import { selector } from '../transforms/select.js'

interface Asked {
  readonly dedup?: boolean | undefined
  readonly only?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly unset?: readonly string[] | undefined
  readonly extra?: OptionValues | undefined
}

/** `model` is the source as it is known by names: before anything is chosen, renamed or unset. */
export function notesOn(asked: Asked, model: Model, format: Format, { sharesPayloads }: WriteCapabilities): string[] {
  const { dedup, only = [], exclude = [], unset = [], extra = {} } = asked
  const own = new Set(format.options?.write?.map(({ name }) => name))
  const isIdle = (pattern: string): boolean => {
    const matches = globMatcher(pattern)
    return !model.tensors.some(({ name }) => matches(name))
  }
  return [
    ...(dedup && !sharesPayloads
      ? [`--dedup changes nothing: ${format.title} stores the bytes of each tensor by themselves`]
      : []),
    ...only.filter(isIdle).map((pattern) => `--only ${pattern} takes nothing: no tensor has such a name`),
    ...exclude.filter(isIdle).map((pattern) => `--exclude ${pattern} changes nothing: no tensor has such a name`),
    ...unset
      .filter((key) => !model.metadata.has(key))
      .map((key) => `--unset ${key} changes nothing: there is no such entry`),
    ...Object.keys(extra)
      .filter((name) => !own.has(name))
      .map((name) => `--${name} changes nothing: ${format.title} has no such option`),
  ]
}

/** Throws when there are tensors and none of them is chosen. */
export function checkChosen({ only, exclude }: Asked, { tensors }: Model, file: string): void {
  const isChosen = selector(only, exclude)
  if (tensors.length === 0 || tensors.some(({ name }) => isChosen(name))) return
  const path = only?.length ? '--only' : '--exclude'
  const message = `none of the ${tensors.length} tensors is left; \`tare inspect\` lists their names`
  failWith(usageCodes.option, { file, path, message })
}
