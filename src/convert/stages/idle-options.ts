// What was asked for and changes nothing. None of it is a loss, but most of it is a slip: it is said in the plan.
import { globMatcher } from '../../transforms/glob.js'
import type { State } from './state.js'

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
