import { defineCodes, error } from '../errors/index.js'

export const packedCodes = defineCodes('packed', {
  form: error(
    'The tensors that make up a packed weight do not fit together, or the configuration describes them in a way that cannot be decoded.',
  ),
})
