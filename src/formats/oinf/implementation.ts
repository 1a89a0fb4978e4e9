import type { Implementation } from '../../model/index.js'
import { layout } from './layout.js'
import { readFile } from './read.js'
import { repair } from './repair.js'

export const oinf: Implementation = { read: readFile, layout, repair }
