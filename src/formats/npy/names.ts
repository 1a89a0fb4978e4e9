// Names that reading and writing share.
import { packed } from '../../dtypes/index.js'
import { stowageKey, type Tensor } from '../../model/index.js'

export const extension = '.npy'
/** The member for what no array can hold. */
export const stowageFile = `${stowageKey}.json`
/** A part: a member of an archive that is not an array. */
export const memberKind = 'npz.member'
/** A part: an array that tare cannot read, for programs that can. */
export const unreadKind = 'npz.unread'

/** The `descr` of a tensor whose elements are of a type that only NumPy has. */
export function foreignDescr(tensor: Tensor): string | undefined {
  const descr = tensor.dtype === packed ? tensor.extra?.descr : undefined
  return typeof descr === 'string' ? descr : undefined
}
