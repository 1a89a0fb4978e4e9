import type { OptionsOf } from '../../flags/flag.js'
import { parseOffset, parsePositive } from '../../flags/parse-values.js'
import { inputs, tableFlags } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const map = defineVerb({
  name: 'map',
  summary: 'account for every byte of the file: offset, length, field and value',
  arguments: [inputs],
  flags: {
    depth: {
      value: '<n>',
      description: 'merge fields that share the first N parts of their path',
      parse: parsePositive,
    },
    hex: { description: 'show the first bytes of each field' },
    at: { value: '<offset>', description: 'only the field at this byte (456 or 0x1c8)', parse: parseOffset },
    ...tableFlags,
  },
  no: 'the input is damaged or of an unknown format',
  examples: [
    ['tare map --depth 2 model.gguf', 'the file as a list of regions'],
    ['tare map --at 0x1c8 --hex model.oinf', 'the field at one offset, with its bytes'],
  ],
})

export type MapOptions = OptionsOf<typeof map.flags>
