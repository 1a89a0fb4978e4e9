import type { OptionsOf } from '../../flags/flag.js'
import { parsePart, parsePositive } from '../../flags/parse-values.js'
import { ofModelsOnly, threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const work = defineVerb({
  name: 'work',
  summary: 'make a share of the output of a job',
  description:
    'Makes the parts that are not there yet. Doing a part twice gives the same bytes, so a worker that was stopped is simply started again. Without --part the share follows from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX (with --parts) or AWS_BATCH_JOB_ARRAY_INDEX where one of them is set; otherwise it is everything that is missing.',
  arguments: [{ name: '<job>', description: 'the job file that tare plan wrote: a path or an address' }],
  flags: {
    part: { value: '<i/n>', description: 'the share of worker I of N, counted from 1', parse: parsePart },
    parts: {
      value: '<n>',
      description: 'the number of workers, where the scheduler tells only which one this is (Kubernetes)',
      parse: parsePositive,
    },
    threads,
  },
  omits: ofModelsOnly,
  no: 'the input is damaged, or holds values that cannot be written as planned',
  examples: [
    ['tare work job.json --part 1/8', 'the first eighth'],
    ['tare work job.json', 'everything that is missing, or the share that a scheduler names'],
  ],
})

export type WorkOptions = OptionsOf<typeof work.flags>
