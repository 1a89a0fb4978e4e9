import { maxSafe } from '../bytes/index.js'
import type { Scalar } from '../dtypes/dtype.js'
import type { JsonValue } from '../model/index.js'

/** JSON has no infinities, no NaN and no integers beyond 2^53-1 that programs agree on: those are strings. */
export function scalarToJson(value: Scalar | undefined): JsonValue {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value
  if (typeof value === 'bigint') {
    const magnitude = value < 0n ? -value : value
    return magnitude <= BigInt(maxSafe) ? Number(value) : value.toString()
  }
  if (typeof value === 'object') return [scalarToJson(value.re), scalarToJson(value.im)]
  return Number.isFinite(value) ? value : String(value)
}
