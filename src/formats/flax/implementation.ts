import type { Implementation } from '../../model/index.js'
import { read } from './read.js'

export const flax: Implementation = { read }
