import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { ofModelsOnly, threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const worker = defineVerb({
  name: 'worker',
  summary: 'work for conversions and checks that others hand to a queue',
  description:
    'Serves a queue of NATS JetStream until it is stopped: makes parts of the output of `tare convert --workers`, and reads weights for verify, hash, stats and diff with --workers. Start as many workers as you like, on machines that see inputs and outputs under the same paths or addresses. Anyone who can write to the queue can make workers read and write files: use --below, and a password or token in the address (it is never shown).',
  arguments: [{ name: '<queue>', description: 'the address of the queue, such as nats://host:4222' }],
  flags: {
    below: {
      value: '<directory>',
      description: 'only touch inputs and outputs below this directory or s3 prefix',
      repeat: true,
    },
    idle: { value: '<seconds>', description: 'end after this long without work', parse: parsePositive },
    threads,
  },
  omits: ofModelsOnly,
  no: 'not used; a job that fails is reported to the command that asked for it',
  examples: [
    ['tare worker nats://queue.local:4222 --below /shared', 'serve, and touch nothing but what lies below /shared'],
    ['tare worker nats://token@queue.local:4222 --idle 60', 'with a token; ends after a minute without work'],
  ],
})

export type WorkerOptions = OptionsOf<typeof worker.flags>
