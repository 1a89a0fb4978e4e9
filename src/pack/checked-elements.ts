// Bytes that come from a file as they are can hold what is no value of their type: booleans beyond 1, the fourth code of a ternary element,
// bits after the last element of a packed type. Written numbers could never bring that about, so files must not either.
import { type DType, t2 } from '../dtypes/index.js'
import type { Payload } from '../model/index.js'
import { packCodes } from './codes.js'
import { type Field, fail } from './field.js'

/** The same bytes; one that means nothing ends the reading with an error that names `field`. */
export function checkedElements(input: Payload, dtype: DType, count: number, field: Field): Payload {
  const { elements } = dtype.group
  const used = dtype.group.bytes === 1 ? ((count % elements) * 8) / elements : 0
  const isOdd = dtype.kind === 'bool' ? isNoBoolean : dtype === t2 ? hasFourthCode : undefined
  if (used === 0 && !isOdd) return input
  const end = input.byteLength
  return {
    byteLength: end,
    async *chunks(window, signal) {
      let at = 0
      for await (const chunk of input.chunks(window, signal)) {
        const odd = isOdd ? chunk.findIndex(isOdd) : -1
        const isTail = used > 0 && at + chunk.byteLength === end && chunk.at(-1)! >= 2 ** used
        if (isTail && (odd < 0 || odd === chunk.byteLength - 1))
          fail(field, packCodes['value-range'], `byte ${end - 1}: bits after the last element are 1`)
        if (odd >= 0) {
          const message =
            isOdd === isNoBoolean ? `${chunk[odd]} does not fit bool` : 'a code that is none of -1, 0 and 1'
          fail(field, packCodes['value-range'], `byte ${at + odd}: ${message}`)
        }
        at += chunk.byteLength
        yield chunk
      }
    },
  }
}

const isNoBoolean = (byte: number): boolean => byte > 1

/** Whether one of the four two-bit codes is binary 10: its upper bit is set and its lower one is not. */
const hasFourthCode = (byte: number): boolean => ((byte >> 1) & ~byte & 0x55) !== 0
