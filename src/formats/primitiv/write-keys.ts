// The keys of tensors that are to be written. A model can have a million, and a key takes more memory than its tensor, so keys are made when
// they are needed; nearly all can be compared without them, by the names that they are made of.
import { compareUtf8 } from '../../bytes/index.js'
import type { Tensor } from '../../model/index.js'
import { compareKeys, conflicts, isPrefix, type Key, sortedByKey } from './names.js'

export interface WriteKeys {
  of(tensor: Tensor): Key
  sorted(tensors: readonly Tensor[]): readonly Tensor[]
  conflicts(sorted: readonly Tensor[]): ReturnType<typeof conflicts<Tensor>>
}

const dot = '.'

/** `isSplit`: names are taken apart at their dots. */
export function writeKeys(isSplit: boolean): WriteKeys {
  const of = (tensor: Tensor): Key => {
    if (tensor.path) return { names: tensor.path, raw: tensor.rawName }
    if (tensor.rawName) return { names: [tensor.name], raw: tensor.rawName }
    return { names: isSplit ? tensor.name.split(dot) : [tensor.name] }
  }
  const compareNames = isSplit ? compareSplit : compareUtf8
  const compare = (a: Tensor, b: Tensor): number =>
    isPlain(a) && isPlain(b) ? compareNames(a.name, b.name) : compareKeys(of(a), of(b))
  const begins = (a: Tensor, b: Tensor): boolean => {
    if (!isPlain(a) || !isPlain(b)) return isPrefix(of(a), of(b))
    return a.name === b.name || (isSplit && b.name.startsWith(a.name) && b.name[a.name.length] === dot)
  }
  return {
    of,
    sorted: (tensors) => sortedByKey(tensors, of, compare),
    conflicts: (sorted) => conflicts(sorted, of, begins),
  }
}

/** Only its name tells the key. */
const isPlain = ({ path, rawName }: Tensor): boolean => path === undefined && rawName === undefined

/** As if the names had been taken apart: where one part ends and the other goes on, the shorter one comes first. */
function compareSplit(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (a[i] === b[i]) continue
    if (a[i] === dot) return -1
    return b[i] === dot ? 1 : compareUtf8(a, b)
  }
  return a.length - b.length
}
