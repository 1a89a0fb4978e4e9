import { defineCodes, error, joinCodes, note, warning } from '../../errors/index.js'
import { hdf5Codes } from '../../wire/hdf5/codes.js'
import { zipCodes } from '../../wire/zip/codes.js'

export const ownCodes = defineCodes('keras', {
  archive: error('The archive has no model.weights.h5, so it is not a Keras model with its weights.'),
  'archive-size': error('The weights in the archive are compressed and too large to be unpacked in memory.'),
  config: warning('config.json or metadata.json is not valid JSON, or too large. Keras refuses such a model.'),
  'foreign-type': warning('A dataset does not hold numbers that tare knows. Its elements are kept as bytes.'),
  'left-out': warning('A dataset holds texts of any length or lists. It was left out.'),
  'same-name': error('Two datasets have the same path once their names are joined.'),
  'not-keras': note('Nothing in the file says that Keras wrote it. Its datasets were read as tensors.'),
})

/** Of HDF5, of the archive around it, and of Keras itself. */
export const codes = joinCodes(hdf5Codes, zipCodes, ownCodes)
