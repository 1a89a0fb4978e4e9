import { defineCodes, error, joinCodes, warning } from '../../errors/index.js'
import { flatbufferCodes } from '../../wire/flatbuffers/codes.js'

export const ownCodes = defineCodes('tflite', {
  magic: error('The file does not have the mark TFL3 of TensorFlow Lite.'),
  version: error('The version of the schema is not 3, the only one that was published.'),
  dtype: error('A tensor has an element type that the schema does not define.'),
  shape: error('A dimension is negative, or the dimensions multiply to more than any file can hold.'),
  size: error('The data of a tensor do not have the size that its type and shape need.'),
  buffer: error('A tensor or an entry of metadata names a buffer that is not there, or that lies outside the file.'),
  overlap: error('The data of two buffers share some of their bytes.'),
  sparse: error('A tensor is stored sparsely. Convert the model without sparsity to read it.'),
  external: error('The data of a tensor are in another file, which is not read.'),
  quantization: error('The scales of a tensor do not go with its shape or with its zero points.'),
  text: warning('A tensor holds texts. They are kept as bytes.'),
  'blockwise-quantization': warning(
    'A tensor has scales for blocks in another tensor. Its values are read without them.',
  ),
  'same-name': warning('Two tensors have the same name, or one has none. They were given a number.'),
})

export const codes = joinCodes(flatbufferCodes, ownCodes)
