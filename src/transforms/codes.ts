import { defineCodes, error } from '../errors/index.js'

export const transformCodes = defineCodes('transform', {
  'shape-mismatch': error('A tensor has another number of bytes than its shape and element type take.'),
  'reorder-type': error(
    'Elements that are no whole bytes, or come in blocks, cannot be put into another order. Cast or dequantize first.',
  ),
  'needs-random-access': error(
    'The tensor is made on the fly and too large to be kept in memory, so it cannot be decoded or put into another order.',
  ),
  'not-a-matrix': error('Only a tensor of rank 2 can be transposed.'),
})
