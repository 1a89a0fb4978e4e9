// What kinds of packed data a file has: a list of {id, quant_name, codec, params} that tensors point into with `quant_id`. The document puts
// it into the manifest, the reference writes it into the JSON metadata, so both are looked at, the manifest first. Tensors usually repeat
// the params; where they do not, the list is all there is.
import { type GgmlType, ggmlTypeByNumber } from '../../dtypes/ggml/types.js'
import type { JsonValue } from '../../model/index.js'
import { isObject } from './index/manifest.js'

/** ggml types by `quant_id`. */
export type Descriptors = ReadonlyMap<number, GgmlType>

/** The first list that describes an id counts. */
export function readDescriptors(lists: readonly (JsonValue | undefined)[]): Descriptors {
  const types = new Map<number, GgmlType>()
  for (const list of lists) {
    const own = new Set<number>()
    for (const [i, row] of (Array.isArray(list) ? (list as readonly JsonValue[]) : []).entries()) {
      if (!isObject(row)) continue
      const id = typeof row.id === 'number' ? row.id : i
      if (own.has(id)) continue
      own.add(id)
      const type = row.codec === 'ggml' ? typeOf(row.params) : undefined
      if (type && !types.has(id)) types.set(id, type)
    }
  }
  return types
}

function typeOf(params: JsonValue | undefined): GgmlType | undefined {
  const number = isObject(params) ? params.ggml_type : undefined
  return typeof number === 'number' ? ggmlTypeByNumber(number) : undefined
}
