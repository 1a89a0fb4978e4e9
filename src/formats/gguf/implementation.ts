import type { Implementation } from '../../model/index.js'
import { editInPlace } from './edit-in-place.js'
import { layout } from './layout.js'
import { read } from './read.js'

export const gguf: Implementation = { read, layout, editInPlace }
