// How tensors are quantized, for the verbs that can.
import type { QuantizeSettings } from '../../kit-node.js'
import { UsageError } from '../status.js'
import { defineFlags, type OptionsOf } from './flag.js'
import { parseAssignment, parseRange } from './parse-values.js'

export const quantizeFlags = defineFlags({
  tensorMethod: {
    group: 'Quantizing',
    value: '<glob=method>',
    description: 'use another method for these tensors; GLOB=keep leaves them unquantized',
    repeat: true,
    parse: parseAssignment,
  },
  pure: {
    group: 'Quantizing',
    description: 'one type for everything that is quantized, where the method is a mix of several',
  },
  requantize: {
    group: 'Quantizing',
    description: 'also quantize tensors that are already quantized, from their decoded values',
  },
  imatrix: {
    group: 'Quantizing',
    value: '<file>',
    description:
      'weight errors by this importance matrix of llama.cpp (GGUF or .dat); not for int8, int4 and --reference-exact of MCF',
  },
  referenceExact: {
    group: 'Quantizing',
    description: "write the reference quantizer's bytes instead of minimizing the error",
  },
  allCodes: {
    group: 'Quantizing',
    description: 'also use the most negative code and scales of either sign, for a smaller error',
  },
  activations: {
    group: 'Quantizing',
    description: 'int8 and int4 with a zero point, for values that are not centred on 0',
  },
  clip: {
    group: 'Quantizing',
    value: '<min,max>',
    description: 'clip values to this range before quantizing',
    parse: parseRange,
  },
})

/** A dry run does not read the values; the sizes are the same. */
export function quantizeSettings(
  method: string,
  options: OptionsOf<typeof quantizeFlags> & { readonly dryRun?: boolean },
  onScan: QuantizeSettings['onScan'],
  matrix?: Pick<QuantizeSettings, 'importance' | 'importanceOrigin'>,
): QuantizeSettings {
  const { tensorMethod, pure, requantize, referenceExact, allCodes, activations, clip, dryRun } = options
  if (referenceExact && allCodes) throw new UsageError('the reference never uses all codes; leave out --all-codes')
  return {
    method,
    tensorMethod,
    pure,
    requantize,
    clip,
    mode: referenceExact ? 'reference' : 'search',
    codes: allCodes ? 'all' : 'symmetric',
    domain: activations ? 'activations' : 'weights',
    ...matrix,
    scan: !dryRun,
    onScan,
  }
}
