import { defineCodes, error } from '../../errors/index.js'

export const msgpackCodes = defineCodes('msgpack', {
  truncated: error('The MessagePack data ends in the middle of a value.'),
  length: error('A string, byte string, list or map claims to be longer than the bytes that are left.'),
  reserved: error('The byte 0xc1, which no MessagePack value may begin with, stands where a value should begin.'),
  utf8: error('A MessagePack string is not valid UTF-8.'),
  depth: error('The MessagePack data is nested deeper than any honest file.'),
  key: error('A map key is neither a string nor a whole number, a boolean or nil.'),
  'duplicate-key': error('The same key occurs twice in one map; readers disagree on which one counts.'),
  'trailing-bytes': error('Bytes follow the MessagePack value that should have been the only one.'),
})
