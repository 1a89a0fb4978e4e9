import { defineCodes, error, warning } from '../../errors/index.js'

export const codes = defineCodes('imatrix', {
  'entry-count': error(
    'The number of entries is not one that a file of this size can have. It was cut off, or is not an importance matrix.',
  ),
  name: error('The name of an entry is empty, longer than the file, or not UTF-8.'),
  'value-count': error(
    'The number of values is not positive, or they do not end inside the file. It was cut off, or is damaged.',
  ),
  'call-count': error('The number of calls is negative.'),
  'duplicate-name': warning('Two entries have the same name. llama.cpp takes the later one, and so does tare.'),
  tail: error(
    'The text data that the matrix was made from is named after the last entry, and the file ends before that name does.',
  ),
  'trailing-bytes': warning('There are bytes after the end of the matrix. They are ignored.'),
})
