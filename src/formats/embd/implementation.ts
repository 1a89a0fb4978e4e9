import type { Implementation } from '../../model/index.js'
import { layout } from './layout.js'
import { restorePart } from './parts.js'
import { read } from './read.js'
import { repair } from './repair/repair.js'

export const embd: Implementation = { read, layout, restorePart, repair }
