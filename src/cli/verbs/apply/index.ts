import type { OptionsOf } from '../../flags/flag.js'
import { input, output, overwrite, threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const apply = defineVerb({
  name: 'apply',
  summary: 'make the new checkpoint from its base and a delta, byte for byte',
  description:
    'Applies what `tare delta` wrote, and the deltas of slime and ModelExpress (a directory with an index). The bytes of the base and of the result are compared with the digests in the delta while they pass; nothing is written when one does not match.',
  arguments: [
    { name: '<base>', description: `the model that the delta was made from: ${input.description}` },
    { name: '<delta>', description: 'the delta: a file, or a directory in the form of slime' },
  ],
  flags: {
    output: output('the new model; for a model of several files a directory, with a slash at its end'),
    overwrite,
    threads,
  },
  no: 'the delta does not belong to this base, or one of them is damaged',
  examples: [
    ['tare apply base.safetensors update.safetensors -o tuned.safetensors', 'the same bytes as the original'],
    ['tare apply checkpoint/ weight_v000007/ -o next/', 'a version that a trainer published'],
  ],
})

export type ApplyVerbOptions = OptionsOf<typeof apply.flags>
