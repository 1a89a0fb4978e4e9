import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const worker = defineVerb({
  name: 'worker',
  summary: 'make parts of conversions that others hand to a queue',
  description:
    'Serves a queue of NATS JetStream until it is stopped: takes parts of `tare convert --workers` and makes them. Start as many as you like, on machines that see the inputs and the outputs under the same paths or addresses. Who can write to the queue makes workers read and write files: use --below, and a password or token in the address (it is never shown).',
  arguments: [{ name: '<queue>', description: 'the address of the queue, such as nats://host:4222' }],
  flags: {
    below: {
      value: '<directory>',
      description: 'only touch inputs and outputs below this directory or s3 prefix; can be given several times',
      repeat: true,
    },
    idle: { value: '<seconds>', description: 'end when there was nothing to do for this long', parse: parsePositive },
    threads,
  },
  no: 'never: a job that cannot be done stops for the one who asked for it',
  examples: [
    ['tare worker nats://queue.local:4222 --below /shared', 'serve, and touch nothing but what lies below /shared'],
    ['tare worker nats://token@queue.local:4222 --idle 60', 'with a token; ends after a minute without work'],
  ],
})

export type WorkerOptions = OptionsOf<typeof worker.flags>
