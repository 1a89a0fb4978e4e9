import { allTorchCodes } from '../../content/torch-save/codes.js'
import type { Format } from '../../model/index.js'
import { guessMemberNames, startsLikeZip } from '../../wire/zip/guess.js'
import { writeCapabilities, writeCapabilitiesFor } from './capabilities.js'
import { isMagicPickle, isModelMember, isNamedModel, isPickle, looksLikeIndex, manifestName } from './detect.js'

const indexSuffix = '.bin.index.json'
const published = ['pytorch_model.bin', `pytorch_model${indexSuffix}`] as const
/** What a trainer keeps beside the weights to go on later. */
const trainingState = /^(optimizer|scheduler|scaler|rng_state|random_states|training_args)(?![a-z])/i

export const torch: Format<'torch', typeof allTorchCodes> = {
  id: 'torch',
  title: 'PyTorch',
  // `.bin` is too common a name to claim; such files are recognised by what is in them.
  extensions: ['.pt', '.pth', '.ckpt', indexSuffix],
  capabilities: {
    checksums: 'all',
    writesOneForm: true,
    conventions: 'hub',
    companions: true,
    write: writeCapabilities,
    writeFor: writeCapabilitiesFor,
  },
  codes: allTorchCodes,
  repairs: 'from a cut or damaged file with its pickle, the tensors whose storages match their checksum',

  detect(head, name) {
    if (looksLikeIndex(head)) return 'yes'
    if (isMagicPickle(head)) return 'yes'
    const isNamed = /\.(pt|pth|ckpt|bin|pkl|pickle)$/i.test(name)
    if (startsLikeZip(head)) {
      const members = [...guessMemberNames(head)]
      if (members.includes(manifestName) && members.some(isNamedModel)) return 'yes'
      for (const member of members) {
        if (/^[^/]+\/(data\.pkl|constants\.pkl|version|byteorder|\.format_version|data\/[^/]+)$/.test(member))
          return 'yes'
        if (isModelMember(member)) return 'yes'
      }
      return isNamed ? 'maybe' : 'no'
    }
    if (isPickle(head)) return 'maybe'
    return /\.(pt|pth|ckpt)$/i.test(name) || name.toLowerCase().endsWith(indexSuffix) ? 'maybe' : 'no'
  },

  published,
  mainFile(names) {
    const preferred = [published[1], published[0]].find((name) => names.includes(name))
    if (preferred !== undefined) return preferred
    const indexes = names.filter((name) => name.endsWith(indexSuffix))
    if (indexes.length === 1) return indexes[0]
    const files = names.filter((name) => /(\.(pt|pth|ckpt)|_model\.bin)$/i.test(name) && !trainingState.test(name))
    return files.length === 1 ? files[0] : undefined
  },

  load: async () => (await import('./implementation.js')).torch,
}
