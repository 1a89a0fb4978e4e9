import type { OptionsOf } from '../../flags/flag.js'
import { parseAssignment, parseSize } from '../../flags/parse-values.js'
import { allowDamage, input, output, resume, set, unset } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const edit = defineVerb({
  name: 'edit',
  summary: 'change metadata and tensor names, without rewriting the weights if the format has room',
  description:
    'Entries keep the type that they have. Says whether the file was changed in place or rewritten; if it is interrupted, either the old file or the new one is there, complete.',
  arguments: [input],
  flags: {
    set: { ...set, group: undefined },
    unset: { ...unset, group: undefined },
    renameTensor: {
      value: '<old=new>',
      description: 'rename a tensor; all renames happen at once, so two can be swapped',
      repeat: true,
      parse: parseAssignment,
    },
    output: output('write the edited model here and leave the input unchanged'),
    dryRun: { description: 'show what would change and how; write nothing' },
    rewrite: { description: 'rewrite the file, even where it could be changed in place' },
    headerSlack: {
      value: '<size>',
      description: 'when the file is rewritten, leave this much room for later edits (safetensors, GGUF)',
      parse: parseSize,
    },
    allowDamage,
    resume,
    overwrite: { negated: 'with -o: fail if the output already exists' },
  },
  no: 'the format cannot hold the change, or the input is damaged',
  examples: [
    ['tare edit model.gguf --set general.name="My model"', 'a metadata entry; says whether in place or rewritten'],
    ['tare edit model.safetensors --rename-tensor lm_head.weight=head.weight --dry-run', 'what it would take'],
    ['tare edit model.safetensors --unset notes -o clean.safetensors', 'into another file'],
  ],
})

export type EditOptions = OptionsOf<typeof edit.flags>
