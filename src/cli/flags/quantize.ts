// How tensors are quantized, for the verbs that can.
import type { QuantizeSettings } from '../../kit-node.js'
import { UsageError } from '../status.js'
import { defineFlags, type OptionsOf } from './flag.js'
import { parseAssignment, parseRange } from './parse-values.js'

export const quantizeFlags = defineFlags({
  tensorMethod: {
    value: '<glob=method>',
    description: 'quantize these tensors by another method; keep for none',
    repeat: true,
    parse: parseAssignment,
  },
  referenceExact: { description: "the reference quantizer's bytes instead of the least error" },
  allCodes: { description: 'use the most negative code and scales of either sign too: less error' },
  activations: { description: 'int8 and int4 with a zero point, for values that are not centred' },
  clip: { value: '<min,max>', description: 'cut values to this range before they are quantized', parse: parseRange },
})

/** A dry run does not read the values; the sizes are the same. */
export function quantizeSettings(
  method: string,
  options: OptionsOf<typeof quantizeFlags> & { readonly dryRun?: boolean },
  onScan: QuantizeSettings['onScan'],
): QuantizeSettings {
  const { tensorMethod, referenceExact, allCodes, activations, clip, dryRun } = options
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
