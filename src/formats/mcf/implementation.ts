import type { Implementation } from '../../model/index.js'
import { restorePart } from './parts.js'
import { read } from './read.js'
import { editInPlace } from './write/edit-in-place.js'
import { layout } from './write/layout.js'

export const mcf: Implementation = { read, layout, editInPlace, restorePart }
