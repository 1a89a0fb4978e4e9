import type { Implementation } from '../../model/index.js'
import { read } from './read.js'
import { editInPlace, layout } from './write/layout.js'

export const torch: Implementation = { read, layout, editInPlace }
