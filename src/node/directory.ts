import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { failWith, ioCodes } from '../errors/index.js'
import type { Format } from '../model/index.js'
import { withIoErrors } from './io-error.js'

/** The file to open in a directory that holds one model. Every format looks at the names; their answers must agree. */
export async function findMainFile(directory: string, formats: readonly Pick<Format, 'mainFile'>[]): Promise<string> {
  const entries = await withIoErrors(directory, () => readdir(directory, { withFileTypes: true }))
  const names = entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort()
  const answers = new Set(formats.flatMap((format) => format.mainFile?.(names) ?? []))
  if (answers.size > 1) {
    const message = `it holds several models (${[...answers].sort().join(', ')}); name the one that is meant`
    failWith(ioCodes['ambiguous-directory'], { file: directory, message })
  }
  const [answer] = answers
  if (answer === undefined) {
    const message = `none of its ${names.length} files is a model that tare knows`
    failWith(ioCodes['empty-directory'], { file: directory, message })
  }
  return join(directory, answer)
}
