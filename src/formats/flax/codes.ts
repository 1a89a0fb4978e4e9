import { defineCodes, error, warning } from '../../errors/index.js'

export const codes = defineCodes('flax', {
  root: error(
    'The outermost value is not a map of named values, so this is not a checkpoint with tensors that have names.',
  ),
  array: error('An array is not stored as its shape, the name of its type and its bytes.'),
  dtype: error(
    'An array has a type that holds no numbers, such as Python objects, texts or records, or an unknown one.',
  ),
  shape: error('A dimension is not a count, or the dimensions multiply to more than any file can hold.'),
  size: error('The bytes of an array are more or fewer than its shape and its type need.'),
  chunked: error(
    'An array that was stored in chunks cannot be put together: a chunk or its shape is missing or wrong.',
  ),
  complex: error('A complex number is not stored as two numbers.'),
  'index-limit': error(
    'Names and values beside the arrays are larger than the limit for index data, or than an honest file of this size has.',
  ),
  'small-type': warning('The elements of an array are of a type that tare does not decode. They are kept as bytes.'),
  extension: warning('A value has an extension type that Flax does not define. It is kept as bytes.'),
  'same-name': warning('Two different paths give the same joined name. One of them is shown with a number behind it.'),
  'no-arrays': warning('There is no array in the file. It may be some other MessagePack data.'),
})
