import type { Implementation } from '../../model/index.js'
import { layout } from './layout.js'
import { read } from './read.js'
import { readSettings } from './read-settings-json.js'
import { restorePart } from './restore-part.js'
import { layoutSettings } from './write-settings-json.js'

export const primitiv: Implementation = {
  read: async (source, context) => ({ model: await read(source, context) }),
  layout,
  restorePart,
}

export const optimizerJson: Implementation = {
  read: async (source, context) => ({ model: await readSettings(source, context) }),
  layout: layoutSettings,
}
