import { defineCodes, error, note, warning } from '../../errors/index.js'

export const codes = defineCodes('mcf', {
  'file-shorter-than-header': error('The file has fewer than the 40 bytes of the fixed header.'),
  magic: error(
    'The file does not begin with "MCF" and a zero byte. Forty zero bytes are what an interrupted writer leaves behind.',
  ),
  'header-size-too-small': error('HeaderSize is below 40.'),
  'section-count-zero': error('The header announces no sections; a file has at least one.'),
  'major-version': error('The major version is not 1. Use a version of tare that knows it.'),
  'file-size': error('The header states a different size than the file has: it was cut, or something was appended.'),
  'header-size-over-file': error('HeaderSize is larger than the file.'),
  'directory-inside-header': error('The section directory begins inside the header.'),
  'directory-out-of-bounds': error('The section directory runs past the end of the file.'),
  'directory-over-limit': error('The section directory has more entries than any honest file.'),
  'section-size-over-file': error('A section is larger than the file.'),
  'section-offset-overflow': error('Offset and size of a section add up to more than 64 bits hold.'),
  'section-out-of-bounds': error('A section runs past the end of the file.'),
  'section-overlaps-header': error('A section begins inside the header.'),
  'section-overlaps-directory': error('A section lies over the section directory.'),
  'section-alignment-8': error('A section does not begin on a multiple of eight.'),
  'section-overlap': error(
    'Two sections share bytes. Readers open the file, but cannot tell which section the bytes belong to.',
  ),
  'section-duplicate': warning('Two sections have the same type; readers use the one that the directory lists first.'),
  'unclaimed-bytes': note('Bytes between the sections, more than padding needs, belong to no section.'),
  padding: warning(
    'Bytes between sections, tensors or the regions of a tensor are not zero, as writers leave them. No reader looks at them.',
  ),
  'header-extra': note('The header is longer than the 40 bytes that are known; the rest was ignored.'),
  'unknown-flags': note('Header flags are set that have no defined meaning.'),

  'store-missing-tensor-index': error('There is tensor data or quantization info, but no TensorIndex section.'),
  'store-empty-tensor-index': error('The TensorIndex section has no bytes.'),
  'store-missing-tensor-data': error('There is a TensorIndex, but no TensorData section.'),
  'store-empty-quantinfo': error('The QuantInfo section has no bytes; leave it out instead.'),

  'index-too-short': error('The TensorIndex is shorter than its header of 48 bytes.'),
  'index-version': error('The TensorIndex has a version other than 1.'),
  'index-count-zero': error('The TensorIndex lists no tensors; it must then be left out.'),
  'index-over-limit': error('A table of the file is larger than the limit for what is read into memory.'),
  'index-entries-out-of-bounds': error('The entries of the TensorIndex do not lie inside its section.'),
  'index-dims-out-of-bounds': error('The dimensions of the TensorIndex do not lie inside its section.'),
  'index-strings-out-of-bounds': error('The names of the TensorIndex do not lie inside its section.'),
  'index-dtype-over-16-bit': error('The element type of an entry does not fit 16 bits.'),
  'index-name-out-of-bounds': error('The name of an entry runs past the table of names.'),
  'index-shape-out-of-bounds': error('The dimensions of an entry run past the table of dimensions.'),
  'index-rank-over-limit': error('A tensor has more dimensions than any honest file.'),
  'index-names-over-limit': error('The entries share so many name bytes that the names would not fit into memory.'),
  'index-reserved': warning('The reserved field of an entry is not zero; readers ignore it.'),
  'index-trailing-bytes': warning('Bytes after the tables of the TensorIndex belong to nothing.'),
  'lookup-by-name-fails': error(
    'The TensorIndex claims to be sorted and is not: readers that trust the flag do not find some names.',
  ),
  'duplicate-name': error('Two tensors have the same name; readers disagree on which one counts.'),
  'name-empty': warning('A tensor has an empty name, which writers refuse.'),
  'name-not-utf8': warning('A name is not UTF-8; it is shown with replacement characters and kept as it is.'),

  'quantinfo-too-short': error('The QuantInfo section is shorter than its header of 8 bytes.'),
  'quantinfo-version': error('The QuantInfo section has a version other than 1.'),
  'quantinfo-records-out-of-bounds': error('The records of the QuantInfo section run past its end.'),
  'quantinfo-reserved-nonzero': error('Reserved bytes of a quantization record are not zero.'),
  'quantinfo-domain-invalid': error('The domain of a quantization record is neither 0 (weights) nor 1 (activations).'),
  'quantinfo-method-unknown': error('A quantization record names a method that does not exist.'),
  'quantinfo-block-method-needs-weights': error('Block methods (q*, k*) exist for weights only.'),
  'quantinfo-block-size': error('Block methods have a block size of 32.'),
  'quantinfo-super-size': error('The super-block size is 256 for k* methods and 0 for q* methods.'),
  'quantinfo-int-needs-zero-sizes': error('int8 and int4 have no blocks; both sizes must be 0.'),
  'quantinfo-trailing-bytes': warning('Bytes after the last quantization record belong to nothing.'),
  'quantinfo-duplicate-record': warning('A tensor has more than one quantization record; the first one is used.'),
  'quantinfo-clip': warning('The clip bounds of a record are not a range (NaN, or the lower above the upper).'),

  'quant-rank-not-2': error('A block-quantized tensor is not a matrix.'),
  'quant-zero-dim': error('A block-quantized tensor has a dimension of 0.'),
  'quant-payload-size-overflow': error('The dimensions multiply to more than any file can hold.'),
  'quant-payload-alignment-64': error('The payload of a quantized tensor does not begin on a multiple of 64.'),
  'quant-payload-size': error('The payload of a quantized tensor is not as long as its shape and type want.'),
  'quant-needs-flag': error('There are block-quantized tensors, but header flag 0 is not set.'),
  'record-index-out-of-range': error('A quantization record points at a tensor that does not exist.'),
  'record-method-mismatch': error('A quantization record names a different method than the tensor’s own type.'),

  'read-zero-dim': error('A tensor has a dimension of 0, which the format does not allow.'),
  'read-dim-too-large': error('A dimension is larger than 2^63-1.'),
  'read-outside-file': error('A tensor runs past the end of the file.'),
  'read-outside-tensordata': error('A tensor does not lie inside the TensorData section.'),
  'read-element-count-overflow': error('The dimensions multiply to more than any file can hold.'),
  'unsupported-dtype-on-read': error(
    'An element type that no runtime reads: unknown, or int8/int4, which the document describes and tare decodes, but the reference does not.',
  ),
  'tensor-overlap': warning(
    'Tensors share bytes without having the same place: changing one changes another. Equal tensors that are stored once do not count.',
  ),
  'int-payload': warning(
    'tare has written int8 or int4 tensors as the document describes them. The reference cannot read them; tare can.',
  ),
  'read-size-mismatch': error('A tensor has a different number of bytes than its shape and type take.'),
  'bare-codes': error(
    'An int8 or int4 tensor holds codes without a scale, as the reference’s pack option for embeddings writes them. The values are lost; pack again from the original.',
  ),

  'model-info-opaque': warning('The ModelInfo section cannot be understood; its bytes are kept as they are.'),
  'model-info-flags': warning('The reserved flags of ModelInfo are not zero.'),

  'scale-not-finite': error('A scale is infinite or NaN, so the values of its block are lost.'),
  'scale-overflow': warning(
    'A scale is infinite because the values were too large for it: the reference writes this without a complaint. The values are lost; quantize again from the original.',
  ),
  'scale-subnormal': warning(
    'A scale is a subnormal number: some readers take it for zero. tare decodes it as it stands.',
  ),
  'row-padding': warning(
    'The last block of a row is not filled up with zeros behind the last column. The values are not affected.',
  ),
  'sub-scale-bits': warning('The upper two bits of a sub-scale are set; readers ignore them.'),
  'most-negative-code': warning(
    'A code is the most negative one, which writers leave unused unless they are told to; it decodes to its value.',
  ),
})
