import { defineCodes, error } from '../errors/index.js'

export const packCodes = defineCodes('pack', {
  'field-type': error('A field of the description has a value of the wrong kind.'),
  'unknown-field': error('The description, or the JSON that fills it, has an unknown field.'),
  missing: error('A required field has no value.'),
  conflict: error('Two fields exclude each other.'),
  ambiguous: error('The name stands for several things; put it under sizevars, metadata or tensors.'),
  dtype: error('There is no such element type, or it cannot be used here.'),
  'size-value': error('A size variable is not a whole number from 0 to 2^64-1.'),
  dimension: error('A dimension is not a whole number, a size variable or a product of these.'),
  'shape-mismatch': error('The stated shape is not the shape of the data.'),
  ragged: error('The rows of a nested list differ in length or depth.'),
  mixed: error('A list mixes booleans or texts with numbers.'),
  'value-range': error('A value does not fit the element type it is to be stored as.'),
  bitset: error('A bitset is a list or a text of zeros and ones.'),
  quant: error('The quantization does not fit the tensor, or contradicts itself.'),
  'data-file': error('A data file cannot be used; the message says why.'),
  'too-large': error('The description is too large to be read into memory. Put the tensors into separate files.'),
  yaml: error('The text is not plain YAML: no tags, no merge keys, one document, few aliases.'),
  module: error('The module has no such export, or the export is not a description.'),
})
