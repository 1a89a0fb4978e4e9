import type { Implementation } from '../../model/index.js'
import { layout } from './layout.js'
import { readSettings } from './optimizer/read-json.js'
import { restorePart } from './optimizer/settings.js'
import { layoutSettings } from './optimizer/write-json.js'
import { read } from './read.js'

export const primitiv: Implementation = {
  read: async (source, context) => ({ model: await read(source, context) }),
  layout,
  restorePart,
}

export const optimizerJson: Implementation = {
  read: async (source, context) => ({ model: await readSettings(source, context) }),
  layout: layoutSettings,
}
