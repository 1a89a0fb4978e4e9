import { defineCodes, error, warning } from '../../errors/index.js'

/** What can be wrong with a protobuf message, whatever it means. */
export const protobufCodes = defineCodes('protobuf', {
  truncated: error('A field runs past the end of its message or of the file, which was cut off. Get the file again.'),
  varint: error('An integer takes more than ten bytes or more than 64 bits, so this is not protobuf or it is damaged.'),
  'field-number': error('A field has the number 0 or one beyond 2^29-1, so these bytes are not a protobuf field.'),
  'wire-type': error('A field has a wire type that does not exist, so these bytes are not a protobuf field.'),
  group: error('A group ends that was not begun, or never ends.'),
  depth: error('Messages are nested deeper than the protobuf library itself would read.'),
  packed: error('A packed list of numbers does not have a length that whole numbers can fill.'),
  mismatch: warning(
    'A field has a different wire type than its message declares. Readers take it for unknown and skip it.',
  ),
})
