import type { OptionsOf } from '../../flags/flag.js'
import { parsePictureSize } from '../../flags/parse-values.js'
import { input, output, overwrite } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const picture = defineVerb({
  name: 'picture',
  summary: 'draw a PNG or SVG: heat map, histogram or quantization plot of a tensor, treemap of a model',
  arguments: [
    input,
    { name: '[tensor]', description: 'the name of the tensor; without it, the picture shows the model' },
  ],
  flags: {
    output: output('the output: FILE.png or FILE.svg'),
    kind: {
      value: '<kind>',
      description: 'heatmap, histogram, methods or treemap (heatmap with a tensor, treemap without)',
      choices: ['heatmap', 'histogram', 'treemap', 'methods'],
    },
    size: {
      value: '<width>x<height>',
      description: 'maximum size in pixels (default: 1200x900)',
      parse: parsePictureSize,
    },
    scale: {
      value: '<scale>',
      description:
        'what the colours of a heat map span: sigma (three standard deviations, the default), minmax, log, sign or exponent; log also for a histogram',
      choices: ['sigma', 'minmax', 'log', 'sign', 'exponent'],
    },
    colors: {
      value: '<map>',
      description:
        'blue-orange, purple-green, blue-yellow or gray (default: blue-orange where 0 is in the middle, else blue-yellow)',
      choices: ['blue-orange', 'purple-green', 'blue-yellow', 'gray'],
    },
    cells: {
      value: '<figure>',
      description: 'mean, rms, min or max of the values that a pixel of a heat map stands for (default: mean)',
      choices: ['mean', 'rms', 'min', 'max'],
    },
    slice: { value: '<ranges>', description: 'a part of the tensor, such as "0:256,:"' },
    overwrite,
  },
  no: 'the input is damaged',
  examples: [
    ['tare picture model.gguf -o model.png', 'where the bytes of a model are'],
    ['tare picture model.gguf blk.0.attn_q.weight -o map.png', 'a map of a tensor, quantized or not'],
    [
      'tare picture model.gguf blk.0.attn_q.weight --slice "0:256,0:256" --scale minmax -o corner.svg',
      'a corner of it',
    ],
    [
      'tare picture model.safetensors lm_head.weight --kind histogram --scale log -o values.png',
      'how its values are distributed',
    ],
    [
      'tare picture model.safetensors lm_head.weight --kind methods -o methods.svg',
      'what each quantization method would cost',
    ],
  ],
})

export type PictureOptions = OptionsOf<typeof picture.flags>
