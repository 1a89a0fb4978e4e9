// What things are called, here and in files.
import { packed } from '../../dtypes/index.js'
import { stowageKey, type Tensor } from '../../model/index.js'

export const extension = '.npy'
/** The member that holds what other formats had no array for. */
export const stowageFile = `${stowageKey}.json`
/** A part that is a member of an archive and no array. */
export const memberKind = 'npz.member'
/** A part that is an array which cannot be read. It belongs to programs that can. */
export const unreadKind = 'npz.unread'

/** The `descr` that a tensor has in a file, or undefined when NumPy has none for it. */
export function foreignDescr(tensor: Tensor): string | undefined {
  const descr = tensor.dtype === packed ? tensor.extra?.descr : undefined
  return typeof descr === 'string' ? descr : undefined
}
