import { defineCodes, error } from '../errors/index.js'

export const mergeCodes = defineCodes('merge', {
  'tensor-clash': error('Models that are to become one have tensors of the same name that are not the same.'),
  'metadata-clash': error('Models that are to become one have metadata entries of the same key with other values.'),
  'part-clash': error('Models that are to become one have parts of the same kind and name that are not the same.'),
})
