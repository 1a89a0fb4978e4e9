import type { OptionsOf } from '../../flags/flag.js'
import { allowLoss, dryRun, ofInputsOnly, output, overwrite, to } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const pack = defineVerb({
  name: 'pack',
  summary: 'build a container from a description and data files',
  description:
    'The description names size variables, metadata and tensors; data stand in it or in .npy, .npz and raw files beside it. It is JSON, YAML, or a module that exports it, which is run. Types follow from the values where they are not given; a value that does not fit its type is refused.',
  arguments: [
    { name: '<description>', description: 'FILE.json, FILE.yaml, MODULE.mjs#NAME, or - for JSON on standard input' },
  ],
  flags: {
    output: output('the output: a file, or - for standard output'),
    to,
    json: {
      value: '[file]',
      description:
        'with a file: JSON that fills the fields of the description by name; alone: one JSON object on standard output',
    },
    data: { value: '<file>', description: 'same as --json with a file; can be YAML' },
    root: {
      value: '<directory>',
      description:
        'the directory of the data files, which they must not leave (default: the directory of the description)',
    },
    dryRun,
    allowLoss: allowLoss(
      'allow the conversion to lose something: none, precision or all (--allow-loss alone means all)',
    ),
    overwrite,
  },
  formatOptions: 'write',
  omits: ofInputsOnly,
  no: 'the description is wrong, or the format cannot hold what it describes',
  examples: [
    ['tare pack mlp.yaml -o mlp.oinf', 'what the description says, in the format that the name says'],
    ['tare pack ./mlp.mjs#MlpRegression --json data.json -o mlp.oinf', 'a module, its fields filled from JSON'],
  ],
})

export type PackOptions = OptionsOf<typeof pack.flags>
