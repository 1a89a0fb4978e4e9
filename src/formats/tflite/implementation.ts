import type { Implementation } from '../../model/index.js'
import { read } from './read.js'

export const tflite: Implementation = { read }
