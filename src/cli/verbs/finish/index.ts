import type { OptionsOf } from '../../flags/flag.js'
import { ofModelsOnly, threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const finish = defineVerb({
  name: 'finish',
  summary: 'complete the output of a job when all of its parts are there',
  description:
    'Computes checksums, hashes and indexes from what the workers recorded about their parts, opens the output to check it, and gives it its name. The weights are not read again.',
  arguments: [{ name: '<job>', description: 'the job file: a path or an address' }],
  flags: {
    discard: { description: 'give up the job instead: remove its parts and leave the output as it was' },
    threads,
  },
  omits: ofModelsOnly,
  no: 'parts are missing',
  examples: [
    ['tare finish job.json', 'the output appears under its name'],
    ['tare finish job.json --discard', 'nothing of the job is left'],
  ],
})

export type FinishOptions = OptionsOf<typeof finish.flags>
