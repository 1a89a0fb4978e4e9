import type { OptionsOf } from '../../flags/flag.js'
import { parsePort } from '../../flags/parse-values.js'
import { inputs, recursive } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const view = defineVerb({
  name: 'view',
  summary: 'look into models in the browser: tensors as pictures, bytes, comparisons, quantization',
  description:
    'Serves a page and the files of the models on 127.0.0.1 and opens it in the browser. Nothing leaves the machine and nothing is written; ' +
    'the address holds a token that nobody else knows. Ctrl-C ends it.',
  arguments: [inputs],
  flags: {
    open: { negated: 'only print the address' },
    port: { value: '<n>', description: 'the port to listen on (default: any free one)', parse: parsePort },
    recursive,
  },
  no: 'not used; a damaged model is shown with its findings',
  examples: [
    ['tare view model.gguf', 'a model in the browser'],
    ['tare view model.safetensors model.gguf', 'two models, to compare them'],
    ['tare view --no-open --port 8080 models/llama', 'on another machine, through the ssh line that it prints'],
  ],
})

export type ViewOptions = OptionsOf<typeof view.flags>
