// How tensors are quantized, for all verbs that can.
import type { QuantizeSettings } from '../node.js'
import type { OptionRow } from './option-row.js'
import { parseAssignment, parseRange } from './parse-values.js'
import { UsageError } from './status.js'

export interface QuantizeFlags {
  readonly tensorMethod?: readonly (readonly [string, string])[]
  readonly referenceExact?: boolean
  readonly allCodes?: boolean
  readonly activations?: boolean
  readonly clip?: readonly [number, number]
  readonly dryRun?: boolean
}

export const quantizeOptions: readonly OptionRow[] = [
  {
    flags: '--tensor-method <glob=method>',
    description: 'quantize these tensors by another method; keep for none',
    repeat: true,
    parse: parseAssignment,
  },
  { flags: '--reference-exact', description: "the reference quantizer's bytes instead of the least error" },
  { flags: '--all-codes', description: 'use the most negative code and scales of either sign too: less error' },
  { flags: '--activations', description: 'int8 and int4 with a zero point, for values that are not centred' },
  { flags: '--clip <min,max>', description: 'cut values to this range before they are quantized', parse: parseRange },
]

/** A dry run does not read the values; the sizes are the same. */
export function quantizeSettings(
  method: string,
  { tensorMethod, referenceExact, allCodes, activations, clip, dryRun }: QuantizeFlags,
  onScan: QuantizeSettings['onScan'],
): QuantizeSettings {
  if (referenceExact && allCodes) throw new UsageError('the reference never uses all codes; leave out --all-codes')
  return {
    method,
    tensorMethod,
    clip,
    mode: referenceExact ? 'reference' : 'search',
    codes: allCodes ? 'all' : 'symmetric',
    domain: activations ? 'activations' : 'weights',
    scan: !dryRun,
    onScan,
  }
}
