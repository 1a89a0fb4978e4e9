// How tensors are quantized, for all verbs that can.
import type { QuantizeSettings } from '../../node.js'
import { UsageError } from '../status.js'

export interface QuantizeFlags {
  readonly tensorMethod?: readonly (readonly [string, string])[]
  readonly referenceExact?: boolean
  readonly allCodes?: boolean
  readonly activations?: boolean
  readonly clip?: readonly [number, number]
  readonly dryRun?: boolean
}

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
