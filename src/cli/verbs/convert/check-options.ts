// What can be seen to be wrong before any input is opened.
import { resolve } from 'node:path'
import { parseRename } from '../../../node.js'
import type { Context } from '../../context.js'
import { quantizeFlags } from '../../flags/quantize.js'
import { checkStdin, formatNamed } from '../../input/run-inputs.js'
import { checkStdout, stemOf } from '../../output/names.js'
import { longName } from '../../program.js'
import { UsageError } from '../../status.js'
import type { ConvertOptions } from './index.js'

export function checkOptions(
  context: Context,
  inputs: readonly string[],
  options: ConvertOptions,
  intoDirectory: boolean,
): void {
  const { output, to, dryRun } = options
  if (output === undefined && !(dryRun && to)) throw new UsageError('say where to with -o OUT')
  if (!dryRun) checkStdout(context, output)
  if (inputs.length > 1 && output !== undefined && !intoDirectory)
    throw new UsageError('several inputs need a directory as output')
  if (to !== undefined) formatNamed(to, '--to')
  checkReceipt(inputs, options)
  checkMerge(inputs, options)
  if (output !== undefined) checkNames(inputs)
  checkQuantize(options)
  try {
    for (const rule of options.rename ?? []) parseRename(rule)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Outputs of several inputs are named after them, and none may replace another. */
function checkNames(inputs: readonly string[]): void {
  const seen = new Map<string, string>()
  for (const input of inputs) {
    const stem = stemOf(input)
    const other = seen.get(stem)
    if (other !== undefined)
      throw new UsageError(`${other} and ${input} would have the same output; convert them one by one`)
    seen.set(stem, input)
  }
}

function checkReceipt(inputs: readonly string[], { receipt, output }: ConvertOptions): void {
  if (receipt === undefined) return
  if (inputs.length > 1) throw new UsageError('a receipt is about one input')
  if (output === '-')
    throw new UsageError('a receipt is about files; what goes to standard output cannot be read again')
  if (output !== undefined && resolve(output) === resolve(receipt))
    throw new UsageError('the receipt needs another name than the output')
}

function checkMerge(inputs: readonly string[], { merge, prefer }: ConvertOptions): void {
  if (!merge && prefer !== undefined) throw new UsageError('--prefer goes with --merge')
  if (!merge) return
  if (inputs.length > 1) throw new UsageError('with --merge there is one input; all others are given as --merge INPUT')
  checkStdin([...inputs, ...merge])
}

function checkQuantize(options: ConvertOptions): void {
  if (options.quantize !== undefined) return
  for (const name of Object.keys(quantizeFlags) as (keyof typeof quantizeFlags)[])
    if (options[name] !== undefined) throw new UsageError(`${longName(name)} goes with --quantize METHOD`)
}
