// How files of Keras are known: by the signature of HDF5, or as an archive by its members.
import { startsLikeHdf5 } from '../../wire/hdf5/superblock.js'
import { guessMemberNames, startsLikeZip } from '../../wire/zip/guess.js'

export const weightsName = 'model.weights.h5'
export const configName = 'config.json'
export const metadataName = 'metadata.json'

export function detect(head: Uint8Array, name: string): 'yes' | 'maybe' | 'no' {
  if (startsLikeHdf5(head)) return 'yes'
  if (startsLikeZip(head)) {
    const members = new Set(guessMemberNames(head))
    // The weights come last, behind a configuration that may be long.
    if (members.has(weightsName) || (members.has(metadataName) && members.has(configName))) return 'yes'
    return /\.keras$/i.test(name) ? 'maybe' : 'no'
  }
  return /\.(keras|h5|hdf5)$/i.test(name) ? 'maybe' : 'no'
}
