// What the target can hold. It is asked before the tensors are looked at, and again when they have their final types.
import { countElements } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Format, Model, WriteCapabilities } from '../../model/index.js'
import { Stower } from '../../stow/index.js'
import { globMatcher } from '../../transforms/glob.js'
import type { ConvertOptions } from '../options.js'
import { withDispensable } from './dispensable.js'
import { inFolder } from './files.js'
import type { State } from './state.js'

export const askTarget = (state: State): State => ({
  ...state,
  write: capabilitiesFor(state.target, state.model, state.options),
})

/** The final answers, and whether what has no place can be carried. */
export async function askAgain(state: State): Promise<State> {
  const { target, model, options } = state
  const write = await withDispensable(capabilitiesFor(target, model, options), model, options.signal)
  const stower = options.stow === false ? undefined : Stower.for(state.restored, target.id, write)
  return { ...state, meant: model, write, stower }
}

function capabilitiesFor(
  format: Format,
  model: Model,
  { extra = {}, name, folder }: ConvertOptions,
): WriteCapabilities {
  const { write, writeFor } = format.capabilities
  const own = writeFor?.(model, extra, name) ?? write
  if (!own) return failWith(writeCodes['not-writable'], { file: name, message: `${format.title} cannot be written` })
  const able = own.hugeShapes ? own : withoutHugeShapes(own)
  return folder && own.folder ? inFolder(able) : able
}

/** Most formats count elements. No tensor with data has such a shape, unless it is empty. */
const withoutHugeShapes = (write: WriteCapabilities): WriteCapabilities => ({
  ...write,
  tensor: (tensor) =>
    countElements(tensor.shape) === undefined
      ? { fits: false, reason: 'its dimensions multiply to more than 2^53-1' }
      : write.tensor(tensor),
})

export function noteIdleOptions(state: State): State {
  const { options, model, target, write } = state
  const { dedup, only = [], exclude = [], unset = [], extra = {} } = options
  const own = new Set(target.options?.write?.map(({ name }) => name))
  const isIdle = (pattern: string): boolean => {
    const matches = globMatcher(pattern)
    return !model.tensors.some(({ name }) => matches(name))
  }
  const notes = [
    ...(dedup && !write.sharesPayloads
      ? [`--dedup changes nothing: ${target.title} stores the bytes of each tensor by themselves`]
      : []),
    ...only.filter(isIdle).map((pattern) => `--only ${pattern} takes nothing: no tensor has such a name`),
    ...exclude.filter(isIdle).map((pattern) => `--exclude ${pattern} changes nothing: no tensor has such a name`),
    ...unset
      .filter((key) => !model.metadata.has(key))
      .map((key) => `--unset ${key} changes nothing: there is no such entry`),
    ...Object.keys(extra)
      .filter((name) => !own.has(name))
      .map((name) => `--${name} changes nothing: ${target.title} has no such option`),
  ]
  return { ...state, notes: [...state.notes, ...notes] }
}
