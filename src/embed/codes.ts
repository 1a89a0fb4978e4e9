import { defineCodes, error } from '../errors/index.js'

export const embedCodes = defineCodes('embed', {
  'engine-missing': error(
    'Computing embeddings needs onnxruntime-node (in browsers onnxruntime-web), which is not installed. Run `npm install onnxruntime-node`.',
  ),
  'engine-failed': error('The engine could not load or run the encoder.'),
  'not-an-encoder': error('The model is not a BERT encoder: a tensor that every encoder has is missing.'),
  shape: error('The tensors do not form an encoder: the shape of one does not fit the others.'),
  undecodable: error('The values of a tensor that the encoder needs cannot be decoded.'),
  heads: error('The number of attention heads is not known, or does not divide the hidden size. Give it.'),
  'too-large': error('The encoder as an ONNX file would exceed 2 GB, the maximum of such a file.'),
  'max-length': error('The encoder has no positions for texts of this length.'),
  'id-range': error('The vocabulary has more tokens than the encoder has embeddings.'),
  'only-padding': error('A text has only padding, so there is nothing to average.'),
})
