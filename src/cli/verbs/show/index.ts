import { inputs, tensors, threads } from '../../flags/shared.js'
import type { Verb } from '../verb.js'

export const show: Verb = {
  name: 'show',
  summary: 'the model as text, with previews, statistics and histograms',
  arguments: [inputs],
  options: [tensors, threads],
  examples: [['tare show model.oinf | less', 'the whole model to read through']],
  load: () => import('./run.js'),
}
