import type { OptionsOf } from '../../flags/flag.js'
import { inputs, tensors, threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const show = defineVerb({
  name: 'show',
  summary: 'print the model as text, with previews, statistics and histograms',
  arguments: [inputs],
  flags: { tensors, threads },
  no: 'the input is damaged',
  examples: [['tare show model.oinf | less', 'the whole model to read through']],
})

export type ShowOptions = OptionsOf<typeof show.flags>
