import { defineCodes, error } from '../../errors/index.js'

/** What can be wrong with a FlatBuffer, whatever its schema. */
export const flatbufferCodes = defineCodes('flatbuffers', {
  outside: error('An offset or a length leads out of the file. It was cut off, or is damaged.'),
  table: error('A table or the list of its fields does not hold together.'),
  text: error('A text is not UTF-8, or does not end with a NUL.'),
  size: error(
    'Tables are larger than the limit on index bytes, or named so often that reading them takes more than the file has.',
  ),
})
