import { defineCodes, error, note, warning } from '../errors/index.js'

export const receiptCodes = defineCodes('receipt', {
  syntax: error('This is not a receipt as `tare convert --receipt` writes it.'),
  missing: error('A tensor that the receipt lists is not in the model.'),
  extra: error('The model has a tensor that the receipt does not list.'),
  form: error('A tensor has another element type or shape than the receipt says.'),
  digest: error('The bytes of a tensor are not those that the receipt is about.'),
  fingerprint: error('All tensors are as the receipt lists them, but its fingerprint is that of another model.'),
  untied: error('The receipt says that a tensor was taken over as it was, but the digests before and after differ.'),
  loss: error('The receipt says that a tensor lost nothing, but its values differ from those of the source.'),
  file: warning('The tensors are those of the receipt, but the file is not: something else in it has changed.'),
  unchecked: note('Whether a tensor lost something could not be found out; the message says why.'),
})
