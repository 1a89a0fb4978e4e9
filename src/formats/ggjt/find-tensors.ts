// Many programs used the container without a version for models with settings of their own. Whatever they are, tensors follow, and each says
// where the next one begins: a place from which that leads exactly to the end of the file is where they start.
import { checkedAdd, type WindowReader } from '../../bytes/index.js'
import { ggmlTypeInVersion } from '../../dtypes/ggml/types.js'
import { fixedSize, headAt, isPossibleHead, nameAt } from './tensor-head.js'

/** Settings and vocabularies take some megabytes. */
const maxHeader = 1 << 24
/** Places that look like a tensor and are none are rare, except in files that were made for it. */
const maxSteps = 1 << 12
/** Nothing says which version the quantized types have, so only those of today are taken. */
const typeVersion = 2

/** Undefined where no such place is found. `window` holds the beginning of the file, `steps` goes through it. */
export async function findTensors(
  window: WindowReader,
  steps: WindowReader,
  start: number,
): Promise<number | undefined> {
  const { end: size } = steps
  const end = Math.min(window.end, start + maxHeader)
  const seen = new Set<number>()
  for (let at = start; at + fixedSize <= end; at++) {
    if (!window.holds(at, fixedSize)) await window.reach(at, fixedSize)
    // Most places fall through here.
    if (window.view.getUint32(at - window.offset, true) > 4 || !isPossibleHead(headAt(window, at))) continue
    if (headAt(window, at).dims === 0 || !(await nameAt(steps, at))) continue
    const { isEnd, length } = await follow(at)
    if (isEnd) return at
    // A row of tensors that breaks off is that of a damaged file, and what comes behind the damage is not all of it.
    if (length > 1 || seen.size > maxSteps) return undefined
  }
  return undefined

  async function follow(first: number): Promise<{ readonly isEnd: boolean; readonly length: number }> {
    let at = first
    let length = 0
    while (at < size) {
      if (seen.has(at) || size - at < fixedSize) return { isEnd: false, length }
      seen.add(at)
      const next = await behind(at)
      if (next === undefined) return { isEnd: false, length }
      at = next
      length++
    }
    return { isEnd: at === size, length }
  }

  async function behind(at: number): Promise<number | undefined> {
    await steps.reach(at, fixedSize)
    const head = headAt(steps, at)
    if (!isPossibleHead(head) || head.size > size - at) return undefined
    await steps.reach(at, head.size)
    const first = at + fixedSize - steps.offset
    const shape = Array.from({ length: head.dims }, (_, k) => steps.view.getInt32(first + 4 * k, true)).toReversed()
    if (shape.some((dim) => dim <= 0)) return undefined
    const length = ggmlTypeInVersion(head.type, typeVersion)?.byteLength(shape)
    return length === undefined ? undefined : checkedAdd(at + head.size, length)
  }
}
