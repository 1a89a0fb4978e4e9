import { defineCodes, error } from '../errors/index.js'

export const transformCodes = defineCodes('transform', {
  'shape-mismatch': error('The number of bytes of a tensor does not match its shape and element type.'),
  'reorder-type': error(
    'Elements that are not whole bytes, or are in blocks, cannot be reordered. Cast or dequantize first.',
  ),
  'needs-random-access': error(
    'The tensor is produced on the fly and too large to be kept in memory, so it cannot be decoded or reordered.',
  ),
  importance: error(
    'The file is not an importance matrix that can be used: parts are missing, of the wrong type, or not finite.',
  ),
  'not-a-matrix': error('Only a tensor of rank 2 can be transposed.'),
})
