import { defineCodes, error } from '../errors/index.js'

export const deltaCodes = defineCodes('delta', {
  'not-a-delta': error('The file is not a delta, or one of a form that tare does not know.'),
  syntax: error('The description in a delta is not as it should be.'),
  'wrong-base': error('The base is not the one that the delta was made from.'),
  'wrong-result': error('What the delta makes of the base does not have the digest that it should have.'),
  damaged: error('The packed bytes of a delta cannot be unpacked.'),
  size: error('A delta asks for far more bytes than it and its base have.'),
  'no-place': error(
    'The container of the base has checksums of its own, so a delta without headers cannot be applied to it.',
  ),
  unchangeable: error('A delta cannot be made in the form that was asked for.'),
})
