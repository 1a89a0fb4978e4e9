// Writing: which of the two layouts, and with what.
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import type { Layout, Model, WriteOptions } from '../../model/index.js'
import { layoutToWrite } from './parts.js'
import { layoutSectioned } from './sectioned/layout.js'
import { givenSpecialIds, giveSpecialIds } from './special-ids.js'
import { layoutStream } from './stream/layout.js'

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const { layout: name, checksums } = options.extra ?? {}
  checkChoice(callerWord('--layout', 'layout'), name, ['sectioned', 'stream'])
  checkChoice(callerWord('--checksums', 'checksums'), checksums, ['on', 'off'])
  const asked = layoutToWrite(model, options.extra)
  const written = giveSpecialIds(model, givenSpecialIds(options.extra, asked))
  const file = asked === 'stream' ? layoutStream(written, options) : await layoutSectioned(written, options)
  return { files: [file] }
}

function checkChoice(option: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return
  failWith(usageCodes.option, { file: option, message: `${String(value)} is none of ${choices.join(', ')}` })
}
