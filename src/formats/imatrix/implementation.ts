import type { Implementation } from '../../model/index.js'
import { layout } from './layout.js'
import { read } from './read.js'

export const imatrix: Implementation = { read, layout }
