import { defineCodes, error } from '../errors/index.js'

export const familyCodes = defineCodes('family', {
  architecture: error(
    'The configuration, or a GGUF file, names an architecture that tare has no table for. It can be copied as it is.',
  ),
  config: error('A file of the model directory is not the JSON that its name promises.'),
  'config-value': error(
    'A value of the configuration, or a key of a GGUF file, is missing, or cannot be what the architecture needs.',
  ),
  'tensor-unknown': error('A tensor has a name that the architecture does not have.'),
  'tensor-missing': error('A tensor that the configuration promises is not there.'),
  'tensor-shape': error('A tensor does not have the shape that follows from the configuration or the metadata.'),
  quantization: error('The weights are quantized by a method, or in a form, that cannot be converted.'),
  'tokenizer-missing': error('The directory lacks the tokenizer file that the architecture needs.'),
  tokenizer: error('A tokenizer is broken, or not of a kind that the architecture can have.'),
  'pre-tokenizer': error(
    'The tokenizer splits text in a way that has no name in llama.cpp, or a name that tare has no rule for.',
  ),
})
