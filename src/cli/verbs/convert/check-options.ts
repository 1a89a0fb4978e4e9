import { resolve } from 'node:path'
import { parseRename } from '../../../node.js'
import type { Context } from '../../context.js'
import type { DamageFlags } from '../../input/damage.js'
import { stemOf } from '../../output/output-name.js'
import type { QuantizeFlags } from '../../flags/quantize.js'
import { checkFormatId } from '../../input/run-inputs.js'
import type { AllowLoss } from '../../output/plan.js'
import { UsageError } from '../../status.js'

export interface ConvertFlags extends QuantizeFlags, DamageFlags {
  readonly output?: string
  readonly to?: string
  readonly allowLoss?: AllowLoss
  readonly cast?: string
  readonly dequantize?: readonly string[]
  readonly quantize?: string
  readonly only?: readonly string[]
  readonly exclude?: readonly string[]
  readonly rename?: readonly string[]
  readonly renameMap?: string
  readonly merge?: readonly string[]
  readonly prefer?: 'first' | 'last'
  readonly set?: readonly (readonly [string, string])[]
  readonly unset?: readonly string[]
  readonly vocab?: string
  readonly files?: boolean
  readonly without?: readonly string[]
  readonly stats?: string | boolean
  readonly keepBytes?: boolean
  readonly keepOrientation?: boolean
  readonly stow?: boolean
  readonly dedup?: boolean
  readonly shardSize?: number
  readonly align?: number
  readonly deterministic?: boolean
  readonly receipt?: string
  readonly overwrite?: boolean
}

/** What can be told to be wrong before any input is opened. */
export function checkFlags(
  context: Context,
  inputs: readonly string[],
  flags: ConvertFlags,
  intoDirectory: boolean,
): void {
  const { output, to } = flags
  if (output === undefined && !(flags.dryRun && to)) throw new UsageError('say where to with -o OUT')
  if (output === '-' && context.json && !flags.dryRun) throw new UsageError('--json and -o - both want standard output')
  if (inputs.length > 1 && output !== undefined && !intoDirectory)
    throw new UsageError('several inputs need a directory as output')
  if (to !== undefined) checkFormatId(to, '--to')
  checkReceiptFlag(inputs, flags)
  checkMergeFlags(inputs, flags)
  if (output !== undefined) checkNames(inputs)
  checkQuantizeFlags(flags)
  try {
    for (const rule of flags.rename ?? []) parseRename(rule)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Outputs of several inputs are called after them, and none may take the place of another. */
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

function checkReceiptFlag(inputs: readonly string[], { receipt, output }: ConvertFlags): void {
  if (receipt === undefined) return
  if (inputs.length > 1) throw new UsageError('a receipt is about one input')
  if (output === '-')
    throw new UsageError('a receipt is about files; what goes to standard output cannot be read again')
  if (output !== undefined && resolve(output) === resolve(receipt))
    throw new UsageError('the receipt needs another name than the output')
}

function checkMergeFlags(inputs: readonly string[], { merge, prefer }: ConvertFlags): void {
  if (!merge && prefer !== undefined) throw new UsageError('--prefer goes with --merge')
  if (!merge) return
  if (inputs.length > 1) throw new UsageError('with --merge there is one input; all others are given as --merge INPUT')
  if ([...inputs, ...merge].filter((input) => input === '-').length > 1)
    throw new UsageError('standard input can be read only once')
}

function checkQuantizeFlags(flags: ConvertFlags): void {
  if (flags.quantize !== undefined) return
  const given = {
    '--tensor-method': flags.tensorMethod,
    '--reference-exact': flags.referenceExact,
    '--all-codes': flags.allCodes,
    '--activations': flags.activations,
    '--clip': flags.clip,
  }
  for (const [flag, value] of Object.entries(given))
    if (value !== undefined) throw new UsageError(`${flag} goes with --quantize METHOD`)
}
