import type { OptionsOf } from '../../flags/flag.js'
import { parseSize } from '../../flags/parse-values.js'
import { convert } from '../convert/index.js'
import { quantize } from '../quantize/index.js'
import { defineVerb } from '../verb.js'

const { output: _, dryRun, receipt, key, certificate, chain, resume, workers: __, ...convertFlags } = convert.flags
const { targetSize, targetBits, methods } = quantize.flags

export const plan = defineVerb({
  name: 'plan',
  summary: 'plan a conversion that many machines carry out together',
  description:
    'Writes a job file: plain JSON with the inputs as they are now, the options, and everything that depends on chance or on the values. `tare work` makes parts of the output from it, on any machine that sees the inputs and the output; `tare finish` completes it. Credentials are never in it.',
  arguments: [
    { name: '<input>', description: 'a file, a directory or an address (http, s3, gs, hf) that all machines can read' },
    { name: '<target>', description: 'the output: a file or directory that all machines can write, or an s3 address' },
  ],
  flags: {
    output: { short: 'o', value: '<file>', description: 'the job file to write' },
    ...convertFlags,
    ...{ targetSize, targetBits, methods },
    workers: {
      group: 'Output',
      value: '<queue>',
      description: 'have the workers of this queue read the values that the plan depends on, such as nats://host:4222',
    },
    leaveLooks: {
      group: 'Output',
      description:
        'leave reading values that the plan depends on to the workers: the job begins with looks at them, and tare finish writes the next job into its file',
    },
    partSize: {
      group: 'Output',
      value: '<size>',
      description: 'cut the output into parts of about this size (64M); an object store takes 10,000 parts at most',
      parse: parseSize,
    },
  },
  formatOptions: 'write',
  omits: ['remoteParts'],
  no: 'something would be lost that --allow-loss does not allow',
  examples: [
    [
      'tare plan /shared/model.safetensors /shared/model.gguf --quantize q4_k -o job.json',
      'a job for a file system that all machines share',
    ],
    ['tare plan hf://owner/model s3://bucket/model.gguf --cast bf16 -o job.json', 'from the hub into an object store'],
  ],
})

export type PlanOptions = OptionsOf<typeof plan.flags>
