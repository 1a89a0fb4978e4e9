import { defineCodes, error } from '../errors/index.js'

export const embedCodes = defineCodes('embed', {
  'engine-missing': error(
    'Computing embeddings needs onnxruntime-node (in browsers onnxruntime-web), which is not installed. Run `npm install onnxruntime-node`.',
  ),
  'engine-failed': error('The engine could not load or run the encoder.'),
  'not-an-encoder': error('The model is no BERT encoder: a tensor that every one has is not there.'),
  shape: error('The tensors do not make an encoder: one has another shape than the others ask for.'),
  undecodable: error('The values of a tensor that the encoder needs cannot be decoded.'),
  heads: error('The number of attention heads is not known, or does not divide the hidden size. Give it with --heads.'),
  'too-large': error('The encoder as an ONNX file would pass 2 GB, the most that one such file can have.'),
  'max-length': error('The encoder has no positions for texts of this length.'),
  'id-range': error('The vocabulary has more tokens than the encoder has embeddings.'),
  'only-padding': error('A text has nothing but padding, so there is nothing to take the mean of.'),
})
