import { defineCodes, error, warning } from '../../errors/index.js'

/** What can be wrong with the header of an NPY file. */
export const npyHeaderCodes = defineCodes('npy', {
  truncated: error('The file ends inside its header.'),
  magic: error('The file does not start with 0x93 and "NUMPY", so it is no NPY file.'),
  version: error('The version is none of 1.0, 2.0 and 3.0. A newer tare may know it.'),
  'header-length': error('The header is longer than 64 KiB, which no array of numbers needs.'),
  'header-long': warning(
    'The header is longer than 10,000 bytes; NumPy refuses that unless it is told to trust the file.',
  ),
  'header-newline': warning('The header does not end in a line feed, as every writer makes it.'),
  'header-syntax': error('The header is not a Python dictionary of plain values.'),
  'header-keys': error('The header must have the keys descr, fortran_order and shape, each once, and no other.'),
  'header-types': error('A value in the header has the wrong type.'),
  shape: error('A dimension is negative, or there are more than 64 of them.'),
  'shape-overflow': error('The dimensions multiply to more than any file can hold.'),
  dtype: error('The element type is none that NumPy has.'),
  'object-array': error('The array holds Python objects, which only a pickle can restore. tare does not run pickles.'),
  structured: error(
    'The array holds records of several fields, which no reader of weights expects. Save each field as an array of its own.',
  ),
})
