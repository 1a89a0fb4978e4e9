import type { Format } from '../../model/index.js'
import { write, writeFor } from './capabilities.js'
import { codes } from './codes.js'
import { detectHeader, fileTypes } from './header.js'

export { optimizerJson } from './optimizer/json-format.js'

const extensions = ['.model', '.param', '.optimizer', '.primitiv']

export const primitiv: Format<'primitiv', typeof codes> = {
  id: 'primitiv',
  title: 'primitiv',
  extensions,
  capabilities: { checksums: 'none', plain: true, defaults: { version: '0.1', variant: 'model' }, write, writeFor },
  codes,
  repairs: 'from a cut file, the parameters before the cut',

  detect(head, name) {
    const lower = name.toLowerCase()
    const isNamed = [...extensions, '.shape', '.tensor'].some((extension) => lower.endsWith(extension))
    return detectHeader(head, isNamed)
  },

  options: {
    write: [
      {
        name: 'file-type',
        argument: 'TYPE',
        choices: fileTypes,
        description: `type of the file: ${fileTypes.join(', ')}; without this, the output's name and what is in the model decide`,
      },
      {
        name: 'split-names',
        argument: 'auto|always|never',
        choices: ['auto', 'always', 'never'],
        description: 'take dotted names apart into submodels; auto does so unless names would clash',
      },
      { name: 'canonical', description: 'drop dimensions of 1 at the end of shapes, as the reference does' },
      { name: 'keep-batch', description: 'write a batch above 1 as it was read instead of as a last dimension' },
    ],
  },
  load: async () => (await import('./implementation.js')).primitiv,
}
