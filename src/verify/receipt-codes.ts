import { defineCodes, error, note, warning } from '../errors/index.js'

export const receiptCodes = defineCodes('receipt', {
  syntax: error('This is not a receipt that tare wrote.'),
  missing: error('A tensor that the receipt lists is not in the model.'),
  extra: error('The model has a tensor that the receipt does not list.'),
  form: error('A tensor has another element type or shape than the receipt says.'),
  digest: error('The bytes of a tensor do not have the digest that the receipt states.'),
  fingerprint: error('All tensors match the receipt, but its fingerprint does not.'),
  untied: error('The receipt says that a tensor was copied unchanged, but its digests before and after differ.'),
  loss: error('The receipt says that a tensor lost nothing, but its values differ from those of the source.'),
  file: warning('The tensors match the receipt, but the file does not: something else in it has changed.'),
  unchecked: note('Whether a tensor lost something could not be determined; the message says why.'),
})
