import { defineCodes, error, warning } from '../../errors/index.js'

export const codes = defineCodes('ggjt', {
  magic: error('The file does not begin with one of the words ggml, ggmf, ggjt or ggla, written backwards.'),
  version: error('The version is none that was ever written: ggmf and ggla have 1, ggjt has 1 to 3.'),
  header: error(
    'The settings at the beginning are not those of a model: a count is negative, or larger than the file. It was cut off, or is damaged.',
  ),
  'unknown-header': warning(
    'The settings and the vocabulary are in an order that tare does not know. The tensors behind them were found and read; all before them was left out.',
  ),
  vocabulary: error(
    'The number of tokens, or the length of one, is not possible in a file of this size. It was cut off, or is damaged.',
  ),
  'tensor-head': error(
    'Where a tensor should begin, there is none: its number of dimensions, its type or the length of its name is not possible. The file is damaged, or something was appended.',
  ),
  'tensor-name': error('The name of a tensor is not UTF-8.'),
  'tensor-shape': error('The dimensions of a tensor are negative, or do not go with its type.'),
  'data-truncated': error('The file ends before the data of a tensor does. It was cut off; get it again.'),
  'duplicate-name': error('Two tensors have the same name.'),
  'missing-tensors': warning(
    'Tensors are missing that the settings ask for. Nothing marks the end of such a file: it may have been cut between two of them.',
  ),
  padding: warning('There are bytes other than zero where the file is only filled up to a multiple of 32.'),
})
