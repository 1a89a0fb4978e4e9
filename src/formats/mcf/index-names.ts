// What the names of an index must be among each other: unique, and ascending by their bytes when the index says so.
import { compareBytes, encodeUtf8, toHex } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { Entry } from './entry.js'
import { reportToVerifier } from './report.js'

/** Reports two entries with one name, and a sort flag that is not true. */
export function checkNames(entries: readonly Entry[], claimsSorted: boolean, context: ReadContext): void {
  const seen = new Map<string, number>()
  let previous: Uint8Array | undefined
  let isSorted = true
  for (const { index, name, rawName, at } of entries) {
    const key = rawName ? `\u0000${toHex(rawName)}` : name
    const first = seen.get(key)
    if (first === undefined) seen.set(key, index)
    else {
      const message = `${JSON.stringify(name)} is also the name of entry ${first}`
      reportToVerifier(context, codes['duplicate-name'], {
        offset: at,
        path: `tensor_index.entries[${index}]`,
        message,
      })
    }
    if (!claimsSorted || !isSorted) continue
    const bytes = rawName ?? encodeUtf8(name)
    if (previous && compareBytes(previous, bytes) > 0) {
      isSorted = false
      const message = `the flags say that names ascend, but ${JSON.stringify(name)} comes too late`
      const path = `tensor_index.entries[${index}].name_off`
      reportToVerifier(context, codes['lookup-by-name-fails'], { offset: at, path, message })
    }
    previous = bytes
  }
}
