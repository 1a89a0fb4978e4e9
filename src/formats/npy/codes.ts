import { defineCodes, error, joinCodes, warning } from '../../errors/index.js'
import { npyHeaderCodes } from '../../wire/npy/codes.js'
import { zipCodes } from '../../wire/zip/codes.js'

export const arrayCodes = defineCodes('npy', {
  'data-truncated': error('The file ends before the array does. It was cut off; get it again.'),
  'trailing-bytes': warning(
    'There are bytes after the array, perhaps another array. NumPy ignores them, and so does tare.',
  ),
  'foreign-type': warning(
    'The elements are not numbers that tare knows: texts, dates, raw bytes or extended floats. They are kept as bytes.',
  ),
  records: warning('The array holds records. Each of their fields was read as a tensor of its own.'),
  'records-deflated': error('Records in a compressed member are too large to be taken apart. Unpack them with NumPy.'),
  'one-array': error('An NPY file holds one array. Choose one, or write an NPZ file.'),
})

export const npyCodes = { ...npyHeaderCodes, ...arrayCodes }

export const ownNpzCodes = defineCodes('npz', {
  member: warning(
    'A member is not an array. It is kept as it is when an NPZ file is written, and has no place elsewhere.',
  ),
  unreadable: warning('A member is an array that tare cannot read. It was left out; the others are there.'),
  'duplicate-name': error('Two members stand for an array of the same name.'),
})

/** Of the archive and of NPZ itself. Both have a `duplicate-name`, so the keys are the full codes. */
export const npzCodes = joinCodes(zipCodes, ownNpzCodes)
