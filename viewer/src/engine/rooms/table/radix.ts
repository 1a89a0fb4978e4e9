// Sorting indexes by numbers without comparing them: digits of 16 bits, the lowest first. A million take less than a tenth of a second, where comparing
// takes more than half of one. Equal ones keep their order.

const buckets = 2 ** 16

/** The indexes in the order of their keys; `keys[i]` belongs to `indexes[i]`. Infinite keys are fine, NaN is not. */
export function sortByNumber(indexes: Uint32Array, keys: Float64Array): Uint32Array {
  const count = indexes.length
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, 2 * count)
  const [low, high] = [new Uint32Array(count), new Uint32Array(count)]
  for (let i = 0; i < count; i++) {
    keys[i] = keys[i]! + 0 // −0 is 0.
    const top = bits[2 * i + 1]!
    const isNegative = top >= 0x8000_0000
    low[i] = isNegative ? ~bits[2 * i]! : bits[2 * i]!
    high[i] = isNegative ? ~top : top + 0x8000_0000
  }
  const sorted = sortByWord(sortByWord(places(count), low), high)
  for (let i = 0; i < count; i++) sorted[i] = indexes[sorted[i]!]!
  return sorted
}

/** 0, 1, 2, … A loop, since a function for each of a million takes longer than sorting them. */
export function places(count: number): Uint32Array {
  const all = new Uint32Array(count)
  for (let i = 0; i < count; i++) all[i] = i
  return all
}

/** All places, in the order of their words; `words` is indexed by place, and has one for each. */
export function sortByWord(given: Uint32Array, words: Uint32Array): Uint32Array {
  let from = given
  let to: Uint32Array = new Uint32Array(given.length)
  for (const shift of [0, 16]) {
    const starts = new Uint32Array(buckets + 1)
    for (let i = 0; i < from.length; i++) starts[((words[i]! >>> shift) & 0xffff) + 1]!++
    if (starts.includes(from.length)) continue
    for (let i = 0; i < buckets; i++) starts[i + 1]! += starts[i]!
    for (let i = 0; i < from.length; i++) {
      const place = from[i]!
      to[starts[(words[place]! >>> shift) & 0xffff]!++] = place
    }
    ;[from, to] = [to, from === given ? new Uint32Array(given.length) : from]
  }
  return from
}
