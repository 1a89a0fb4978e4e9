// Pairs the tensors of two models: by name first, and the rest by content.
import { toHex } from '../bytes/index.js'
import { hashModel } from '../inspect/hash.js'
import type { Model, Tensor } from '../model/index.js'
import { formatDims } from '../model/model.js'
import { nameBytes } from '../model/name-bytes.js'
import { type Pairs, pairBy } from '../model/pair-by.js'
import type { WorkerPool } from '../threads/index.js'
import type { Watch } from './compare-bytes.js'
import { typeOf } from './compare-tensors.js'
import { inRowOrder } from './real-values.js'

export type Matches = Pairs<Tensor>

export interface HashWatch extends Watch {
  readonly pool?: WorkerPool | undefined
}

/**
 * Pairs by name. In hierarchical formats two tensors can have the same joined name, so tensors are paired by all parts of the name first,
 * then by the joined name. Names that are not valid text may look alike, so their bytes are compared.
 */
export function matchNames(listA: readonly Tensor[], listB: readonly Tensor[]): Matches {
  const [a, b] = [[...listA], [...listB]]
  const exact = pairBy(a, b, ({ name, path, rawName }) => JSON.stringify([name, path, rawName?.map(toHex)]))
  const shown = pairBy(exact.onlyA, exact.onlyB, joinedName)
  const order = new Map(a.map((tensor, i) => [tensor, i]))
  const pairs = [...exact.pairs, ...shown.pairs].sort((x, y) => order.get(x.a)! - order.get(y.a)!)
  return { ...shown, pairs }
}

const joinedName = (tensor: Tensor): string => {
  const bytes = nameBytes(tensor)
  return bytes ? `bytes ${toHex(bytes)}` : `text ${tensor.name}`
}

/** Two models with one tensor each, named after their files: the file names are not a difference. */
export function matchNameless(a: readonly Tensor[], b: readonly Tensor[]): Matches | undefined {
  const [first, second] = [a.at(0), b.at(0)]
  if (a.length !== 1 || b.length !== 1 || !first?.isNamedByFile || !second?.isNamedByFile) return undefined
  return { pairs: [{ a: first, b: second }], onlyA: [], onlyB: [] }
}

/** Pairs tensors without a partner by type, shape and content. Only tensors that could have a partner are read. */
export async function matchContents(
  { onlyA, onlyB }: Pick<Matches, 'onlyA' | 'onlyB'>,
  models: { readonly a: Model; readonly b: Model },
  watch: HashWatch,
): Promise<Matches> {
  const wanted = renameCandidates(onlyA, onlyB)
  if (wanted.size === 0) return { pairs: [], onlyA, onlyB }
  const isWanted = (tensor: Tensor): boolean => wanted.has(tensor)
  const digests = new Map([
    ...(await digestsOf(models.a, onlyA.filter(isWanted), watch)),
    ...(await digestsOf(models.b, onlyB.filter(isWanted), watch)),
  ])
  return pairBy(onlyA, onlyB, (tensor) => {
    const digest = digests.get(tensor)
    return digest === undefined ? undefined : `${formKey(tensor)} ${digest}`
  })
}

/** Tensors with data whose type and shape also occur on the other side. */
export function renameCandidates(onlyA: readonly Tensor[], onlyB: readonly Tensor[]): Set<Tensor> {
  const forms = (tensors: readonly Tensor[]): Set<string> => new Set(tensors.map(formKey))
  const [inA, inB] = [forms(onlyA), forms(onlyB)]
  return new Set([
    ...onlyA.filter((tensor) => tensor.data && inB.has(formKey(tensor))),
    ...onlyB.filter((tensor) => tensor.data && inA.has(formKey(tensor))),
  ])
}

/** Scales beside a tensor are part of its content. */
const formKey = (tensor: Tensor): string => JSON.stringify([typeOf(tensor), formatDims(tensor), tensor.quant])

async function digestsOf(model: Model, tensors: readonly Tensor[], watch: HashWatch): Promise<[Tensor, string][]> {
  const ordered = tensors.map(inRowOrder)
  const hashable = ordered.filter((each) => typeof each !== 'string')
  const unhashed = tensors.filter((_, i) => typeof ordered[i] !== 'string')
  let before = 0
  const onProgress = ({ done }: { done: number }): void => {
    watch.advance?.(done - before)
    before = done
  }
  const { pool, signal } = watch
  const { tensors: hashed } = await hashModel(
    { ...model, tensors: hashable },
    { pool, signal, onProgress, stow: false },
  )
  return unhashed.map((tensor, i) => [tensor, hashed[i]!.digest!])
}
