import type { OptionsOf } from '../../flags/flag.js'
import { ofModelsOnly } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const status = defineVerb({
  name: 'status',
  summary: 'show how much of a job is done',
  description: 'Counts the parts that are there. It reads nothing of the model and can be run at any time.',
  arguments: [{ name: '<job>', description: 'the job file: a path or an address' }],
  flags: { wait: { description: 'wait until all parts are there' } },
  omits: ofModelsOnly,
  no: 'parts are missing',
  examples: [
    ['tare status job.json', 'how many parts are there, and which are missing'],
    ['tare status job.json --wait && tare finish job.json', 'finish it as soon as that is possible'],
  ],
})

export type StatusOptions = OptionsOf<typeof status.flags>
