// Wishes that change nothing, most of them mistyped: patterns that match no tensor, entries that are not there, options of another format.
import { callerWord, didYouMean } from '../../errors/index.js'
import type { Model } from '../../model/index.js'
import { isQuantized } from '../../transforms/dequantize.js'
import { globMatcher } from '../../transforms/glob.js'
import { parseRename } from '../../transforms/select.js'
import type { ConvertOptions } from '../options.js'
import type { State } from './state.js'

/** Notes them in the plan, each with the names that come nearest. */
export function noteIdleOptions(state: State): State {
  const { options, model, target, write } = state
  const { dedup, unset = [], extra = {} } = options
  const own = new Set(target.options?.write?.map(({ name }) => name))
  const names = model.tensors.map(({ name }) => name)
  const notes = [
    ...(dedup && !write.sharesPayloads
      ? [
          `${callerWord('--dedup', 'dedup')} changes nothing: ${target.title} stores the bytes of each tensor by themselves`,
        ]
      : []),
    ...idlePatterns(options, names),
    ...idleRules(options, names),
    ...idleDecoding(options, model),
    ...unset
      .filter((key) => !model.metadata.has(key))
      .map(
        (key) =>
          `${callerWord('--unset', 'unset')} ${key} changes nothing: there is no such entry${didYouMean(key, model.metadata.keys())}`,
      ),
    ...Object.keys(extra)
      .filter((name) => !own.has(name))
      .map((name) => `${callerWord(`--${name}`, name)} changes nothing: ${target.title} has no such option`),
  ]
  return { ...state, notes: [...state.notes, ...notes] }
}

function idlePatterns({ only = [], exclude = [], quantize }: ConvertOptions, names: readonly string[]): string[] {
  const methods = quantize?.tensorMethod ?? []
  const given: [flag: string, pattern: string, effect: string][] = [
    ...only.map((glob): [string, string, string] => [callerWord('--only', 'only'), glob, 'takes nothing']),
    ...exclude.map((glob): [string, string, string] => [callerWord('--exclude', 'exclude'), glob, 'changes nothing']),
    ...methods.map(([glob]): [string, string, string] => [
      callerWord('--tensor-method', 'tensorMethod'),
      glob,
      'changes nothing',
    ]),
  ]
  return given
    .filter(([, pattern]) => matchesNone(pattern, names))
    .map(
      ([flag, pattern, effect]) =>
        `${flag} ${pattern} ${effect}: no tensor has such a name${didYouMean(pattern, names)}`,
    )
}

/** Rules work one after the other, so each is tried on what those before it made of the names. */
function idleRules({ rename = [], renameMap }: ConvertOptions, names: readonly string[]): string[] {
  if (rename.length === 0) return []
  const notes: string[] = []
  let current = names.filter((name) => !renameMap?.has(name))
  for (const rule of rename) {
    const renamed = current.map(parseRename(rule))
    if (renamed.every((name, i) => name === current[i]))
      notes.push(`${callerWord('--rename', 'rename')} ${rule} changes nothing: no name of a tensor matches`)
    current = renamed
  }
  return notes
}

function idleDecoding({ dequantize = [] }: ConvertOptions, { tensors }: Model): string[] {
  const quantized = tensors.filter(isQuantized).map(({ name }) => name)
  return dequantize
    .filter((pattern) => matchesNone(pattern, quantized))
    .map(
      (pattern) =>
        `${callerWord('--dequantize=', 'dequantize ')}${pattern} changes nothing: no quantized tensor has such a name${didYouMean(pattern, quantized)}`,
    )
}

function matchesNone(pattern: string, names: readonly string[]): boolean {
  const matches = globMatcher(pattern)
  return !names.some(matches)
}
