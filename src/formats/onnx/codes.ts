import { defineCodes, error, joinCodes, note, warning } from '../../errors/index.js'
import { protobufCodes } from '../../wire/protobuf/codes.js'

export const ownCodes = defineCodes('onnx', {
  empty: error('The file has no bytes. That is a valid protobuf message, but no model.'),
  'text-form': error(
    'This is an ONNX model spelled as text. Load it with the onnx package and save it in the binary form.',
  ),
  'no-ir-version': error('The model does not say which version of the format it has. The file may be cut off.'),
  'no-graph': error('The model has no graph. The file may be cut off, or it is not an ONNX model.'),
  'no-opset': error(
    'The model does not say which operator set it uses, as it must from version 3 on; it may be cut off.',
  ),
  dtype: error('The element type is not one that ONNX has.'),
  'negative-dim': error('A dimension is negative. Some readers would guess it from the data.'),
  rank: error('A tensor has more dimensions than any honest one.'),
  'shape-overflow': error('The dimensions multiply to more than any file can hold.'),
  size: error('The data are not as long as element type and shape want.'),
  count: error('The list of values does not have as many as the shape wants.'),
  'no-data': error('The tensor has elements, but no data.'),
  'two-fields': warning('The tensor has data in more than one field; readers disagree on which one counts.'),
  repeated: warning('A field that may occur once occurs twice. The last one counts, as everywhere in protobuf.'),
  'value-range': warning('A value is larger than its element type can hold. Only the low bits count.'),
  'fill-bits': warning('The bits behind the last element are not zero.'),
  segment: error('The tensor is cut into segments, which no reader supports.'),
  'data-location': error('data_location is neither 0 (here) nor 1 (in another file).'),
  'external-no-location': error('The data are in another file, but nothing says in which.'),
  'external-path': error('The data would be in a file outside the directory of the model. It was not opened.'),
  'external-missing': error('A file that holds the data of tensors is not there, or cannot be read.'),
  'external-number': error('Offset or length of the data in another file is not a decimal number.'),
  'external-range': error('The data would lie past the end of the file that holds them.'),
  'external-rest': warning(
    'No length is stated, and the file has more bytes than the tensor. The first ones are taken.',
  ),
  'external-key': warning('Something is stated about the data in another file that has no meaning. It is ignored.'),
  'external-unused': warning('Another file is named for the data, but the tensor says that they are here.'),
  'external-checksum': note('A checksum of the whole data file is stated. It is not compared.'),
  'duplicate-name': error('Two tensors of one graph have the same name.'),
  'duplicate-constant': warning(
    'Two constants of one graph have the same name. Runtimes take the last one; here the others get a number.',
  ),
  'name-reused': note('Tensors of two graphs have the same name. Here the later ones get a number.'),
  'name-empty': warning('A tensor has no name.'),
  utf8: warning('A text is not UTF-8. Its bytes are kept.'),
  'text-length': error('A text is longer than the limit. Raise the limit if the file is honest.'),
  'duplicate-metadata': warning('A metadata key occurs twice. The last one counts.'),
  strings: note('A tensor holds texts, not numbers. It is listed as a part.'),
  sparse: note('A tensor is stored sparsely, as values and their positions. It is listed as a part.'),
  'sparse-shape': error('Values and positions of a sparse tensor do not go together.'),
  'sparse-index': error('A position in a sparse tensor lies outside its shape.'),
  'sparse-order': error('The positions of a sparse tensor do not ascend, or one occurs twice.'),
  'name-taken': error('A tensor cannot be renamed so: something else in the graph has that name. Choose another one.'),
  'name-absent': error('A tensor without a name cannot be given one: nothing in the graph could refer to it.'),
  'graph-type': error('A tensor cannot have this type here: the graph could not compute with it any more.'),
  'graph-tensors': error('The tensors are not those of the graph: one is missing, or has another shape.'),
  'field-required': error('This entry cannot be taken away: readers need it. Set it to something else.'),
  'field-value': error('The value does not fit the entry: versions are whole numbers, everything else is text.'),
  'new-version': warning('The model states a version of the format that is newer than any that tare knows.'),
})

/** Those of protobuf and its own, listed by their full name. */
export const codes = joinCodes(ownCodes, protobufCodes)
