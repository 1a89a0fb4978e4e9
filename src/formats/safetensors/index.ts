import type { Format } from '../../model/index.js'
import { writeCapabilities } from './capabilities.js'
import { codes } from './codes.js'
import { completeSet, indexSuffix, looksLikeIndex } from './detect.js'
import { headerLengthIn, maxHeaderLength, prefix, slackOption, startsLikeText } from './structs.js'

const published = ['model.safetensors', `model${indexSuffix}`] as const

export const safetensors: Format<'safetensors', typeof codes> = {
  id: 'safetensors',
  title: 'safetensors',
  extensions: ['.safetensors', indexSuffix],
  capabilities: { checksums: 'none', plain: true, conventions: 'hub', companions: true, write: writeCapabilities },
  codes,
  repairs: 'from a cut file with its header, the complete tensors; from a set, those in the files that are left',

  detect(head, name, size) {
    if (startsLikeText(head) && looksLikeIndex(head)) return 'yes'
    const lower = name.toLowerCase()
    const named = lower.endsWith('.safetensors') || lower.endsWith(indexSuffix)
    if (head.byteLength >= 9) {
      const length = Number(headerLengthIn(head))
      const plausible = length >= 2 && length <= Math.min(maxHeaderLength, size - prefix.size)
      if (plausible && head[8] === 0x7b)
        return head.byteLength > 9 && [0x22, 0x7d, 0x20, 0x0a].includes(head[9]!) ? 'yes' : 'maybe'
    }
    return named ? 'maybe' : 'no'
  },

  published,
  mainFile(names) {
    // Beside the default names there can be others for the same weights, such as model.fp16.safetensors.
    const standard = [published[1], published[0]].find((name) => names.includes(name))
    if (standard !== undefined) return standard
    const indexes = names.filter((name) => name.endsWith(indexSuffix))
    if (indexes.length === 1) return indexes[0]
    const files = names.filter((name) => name.endsWith('.safetensors'))
    return files.length === 1 ? files[0] : indexes.length === 0 ? completeSet(files)?.[0] : undefined
  },

  options: {
    write: [
      {
        name: slackOption,
        argument: 'SIZE',
        kind: 'size',
        description: 'leave this much room in the header, so that later edits need not move the weights',
      },
    ],
  },
  load: async () => (await import('./implementation.js')).safetensors,
}
