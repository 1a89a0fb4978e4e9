import type { OptionsOf } from '../../flags/flag.js'
import { parseLevel } from '../../flags/parse-values.js'
import { input, output, overwrite } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const delta = defineVerb({
  name: 'delta',
  summary: 'write the exact difference of two checkpoints, to be sent instead of the new one',
  description:
    'Stores, for every tensor that changed, the XOR of its stored bits with those of the base, packed with zstd; and whatever else is needed to recreate the new files byte for byte, in any container. A directory as output (a name that ends with a slash) gets the form that slime and ModelExpress publish and apply. `tare apply` turns the base and the delta into the new model.',
  arguments: [
    { name: '<base>', description: `the model that the receiver has: ${input.description}` },
    { name: '<new>', description: 'the model that the receiver should get' },
  ],
  flags: {
    output: output('the delta: a safetensors file, or a directory with a slash at its end'),
    planes: {
      value: '<when>',
      description:
        'group the bytes of elements by significance before packing, which is smaller: on, off or auto (default: on for a file, off for a directory, since other tools read those)',
      choices: ['auto', 'on', 'off'],
    },
    level: {
      value: '<n>',
      description: 'zstd compression level, 1 to 19 (default: 1, which often gives the smallest delta as well)',
      parse: parseLevel,
    },
    checksum: {
      value: '<name>',
      description:
        'the checksum of the new tensors that a directory states: adler32 (default; ModelExpress accepts no other), xxh3-128 or blake3',
      choices: ['adler32', 'xxh3-128', 'blake3'],
    },
    versionName: {
      value: '<id>',
      description:
        'the version that the index of a directory states (default: taken from a name such as weight_v000007, else 000001)',
    },
    baseVersion: { value: '<id>', description: 'the version of the base (default: the one before, or 000000)' },
    rename: {
      value: '<s/a/b/>',
      description: 'how the names of tensors changed from the base to the new model',
      repeat: true,
    },
    overwrite,
  },
  no: 'the delta cannot be made in this form, or a model is damaged',
  examples: [
    ['tare delta base.safetensors tuned.safetensors -o update.safetensors', 'often a small part of the model'],
    ['tare delta step-6/ step-7/ -o weight_v000007/', 'a directory that slime and ModelExpress apply'],
  ],
})

export type DeltaVerbOptions = OptionsOf<typeof delta.flags>
