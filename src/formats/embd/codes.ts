import { defineCodes, error, note, warning } from '../../errors/index.js'

export const codes = defineCodes('embd', {
  magic: error('The file does not begin with "EMBD".'),
  'truncated-header': error('The file ends inside its header.'),
  version: error('The version is not 1, the only one that the stream layout has.'),
  'version-major': error('The major version of a sectioned file is not 1.'),
  'version-minor': warning('The minor version is newer than 0; what it may have added is not looked at.'),
  'unknown-layout': error(
    'The file begins with "EMBD", but is neither of the two layouts that exist; the message says why.',
  ),
  'index-limit': error('Names, metadata or vocabulary would take more memory than the limit for an index allows.'),

  'total-file-size': error(
    'The header states a different size than the file has: the file was cut, or something was appended.',
  ),
  'footer-magic': error('The footer does not hold "DBME" where the header wants it.'),
  'header-crc': error('The checksum of the header does not match.'),
  'data-crc': error('The checksum of the tensor data does not match: weights were damaged.'),
  'file-crc': error('The checksum of the whole file does not match.'),
  compressed: error('The COMPRESSED flag is set, but no compression was ever defined.'),
  'reserved-flags': warning('A flag that has no meaning yet is set.'),
  'reserved-header': warning('The reserved word of the header is not zero.'),
  'reserved-footer': warning('The reserved word of the footer is not zero.'),

  'metadata-range': error('The metadata section does not lie between header and footer.'),
  'metadata-entries': error('The metadata entries do not fill their section exactly.'),
  'metadata-total-size': error('total_size of the metadata is not the size of its entries.'),
  'metadata-key-utf8': error('A metadata key is not UTF-8.'),
  'metadata-value-utf8': warning('A metadata value is not UTF-8; its bytes are kept.'),
  'metadata-duplicate-key': warning('A metadata key occurs twice; the first value counts, the others are kept apart.'),
  'metadata-required-keys': warning('Metadata keys that the document requires are missing.'),
  'metadata-vocab-size': warning('vocab_size in the metadata is not the number of tokens in the vocabulary.'),

  'vocab-range': error('The vocabulary section does not lie between header and footer.'),
  'vocab-entries': error('The tokens do not fill their section exactly.'),
  'vocab-total-size': error('total_size of the vocabulary is not the size of its tokens.'),
  'vocab-flag': warning('The flag says that there is no vocabulary, but the header places one.'),
  'special-range': error('The special token ids lie neither before nor after the tokens of their section.'),
  'special-id': error('A special token id is not below the number of tokens.'),
  'special-text': warning('A special token id belongs to a token with another text.'),
  'token-utf8': warning('A token is not UTF-8; its bytes are kept.'),
  'duplicate-token': warning('A token occurs twice; encoders use only one of its ids.'),

  'index-range': error('The tensor index does not lie between header and footer.'),
  'name-table': error('The tensor names do not fit behind the index.'),
  'name-hash': error('The stored hash of a tensor name is not the hash of that name: lookups by hash fail.'),
  'name-utf8': error('A tensor name is not UTF-8.'),
  'duplicate-tensor-name': error('Two tensors have the same name; readers disagree on which one counts.'),
  'empty-tensor-name': warning('A tensor has an empty name.'),
  'no-tensors': warning('The file holds no tensors.'),
  dtype: error('The element type is none of the nine that exist.'),
  ndim: error('A tensor must have one to four dimensions.'),
  'dim-zero': error('A dimension is zero.'),
  'shape-overflow': error('The dimensions multiply to more than any file can hold.'),
  'unused-shape': warning('A dimension beyond the tensor’s rank is not zero; it is ignored.'),
  'data-section-range': error('The tensor data section does not lie between header and footer.'),
  'data-range': error('A tensor does not lie inside the tensor data section.'),
  alignment: error('TENSORS_ALIGNED is set, but a tensor does not start on a multiple of 64.'),
  'alignment-absolute': warning(
    'Tensors are aligned within their section, but the section is not: mapped memory is unaligned.',
  ),
  'tensor-overlap': error('Two tensors share bytes.'),
  'section-overlap': error('Two sections share bytes.'),
  padding: warning('Bytes between sections or tensors are not zero.'),

  'truncated-name': error('The file ends inside a tensor name.'),
  'truncated-shape': error('The file ends inside a tensor’s dimensions.'),
  'truncated-data': error('The file ends inside a tensor’s data, or its shape asks for more than is there.'),
  'truncated-vocab-count': error(
    'The file ends before the number of tokens, which must be there even when it is zero.',
  ),
  'truncated-token': error('The file ends inside the vocabulary.'),
  'string-length-limit': warning(
    'A name or token is longer than the 1,048,576 bytes that the reference library reads.',
  ),
  'vocab-count-limit': warning('The vocabulary has more than the 100,000 tokens that the reference library reads.'),
  'trailing-bytes': warning('Bytes follow the last token; the reference library ignores them.'),

  orientation: warning(
    'Linear weights lie the other way round than readers of this layout take them; convert to turn them.',
  ),
  'orientation-undecidable': note('The shapes do not tell whether linear weights are [out, in] or [in, out].'),
  'write-limit': error(
    'The layout has no room for this: a count, length or offset is beyond what its fields or readers hold.',
  ),
})
