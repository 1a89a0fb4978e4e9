// The settings of an optimizer as a JSON file of their own, to read, to edit and to turn into an Optimizer file again.
import { decodeLossy } from '../../../bytes/index.js'
import type { Fit, Format, MetaValue, Model, Part, WriteCapabilities } from '../../../model/index.js'
import { fitSetting } from '../capabilities.js'
import { settingsCodes as codes } from '../codes.js'
import { contentOf, findOptimizer, settingsId } from './settings.js'

const extensions = ['.json', '.optimizer.json']

/** What the text of a settings file begins with: one of its members. */
const beginning = /^\{\s*(?:"class"\s*:\s*(?:"[^"]*"|null)\s*[,}]|"(?:uint|float)"\s*:\s*\{)/

export const optimizerJson: Format<typeof settingsId, typeof codes> = {
  id: settingsId,
  title: 'Optimizer JSON',
  extensions,
  capabilities: { checksums: 'none', writeFor },
  codes,

  detect(head, name) {
    const text = decodeLossy(head.subarray(0, 4096)).trimStart()
    if (beginning.test(text)) return 'yes'
    return name.toLowerCase().endsWith('.optimizer.json') ? 'maybe' : 'no'
  },

  load: async () => (await import('../implementation.js')).optimizerJson,
}

function writeFor(model: Model): WriteCapabilities {
  const hasSettings = findOptimizer(model.parts) !== undefined
  return {
    order: 'both',
    shards: false,
    orientation: 'as-is',
    tensor: () => ({ fits: false, reason: 'this JSON holds the settings of an optimizer and no tensors' }),
    metadata: (key: string, value: MetaValue): Fit<MetaValue> => fitSetting(key, value, hasSettings),
    part(part: Part): Fit<Part> {
      const content = contentOf(part)
      if (!content) return { fits: false, reason: 'this JSON holds the settings of an optimizer and nothing else' }
      if (!content.repeats) return { fits: true }
      const { repeats: _, ...rest } = content
      return {
        fits: true,
        as: { ...part, content: rest },
        reason: 'of settings that occur twice only the first counts',
      }
    },
  }
}
