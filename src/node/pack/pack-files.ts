import { realpath } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import type { ByteSource } from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { FileSource } from '../files/file-source.js'
import { withIoErrors } from '../files/io-error.js'

/**
 * Opens the data files of a description: in its folder or below, nowhere else. A description that somebody else wrote must not carry
 * just any file of this machine into a model.
 */
export function dataFileReader(folder: string): (name: string) => Promise<ByteSource> {
  return async (name) => {
    const parts = name.split(/[/\\]/)
    if (isAbsolute(name) || /^[A-Za-z]:/.test(name) || name.includes('\0') || parts.includes('..'))
      refuse(name, `the name leads out of ${folder}; data files are looked for there or in --root`)
    if (parts.every((part) => part === '' || part === '.')) refuse(name, 'this is no name of a file')
    const path = join(folder, name)
    const target = await withIoErrors(name, () => realpath(path))
    const home = await withIoErrors(folder, () => realpath(folder))
    if (!target.startsWith(home.endsWith(sep) ? home : home + sep))
      refuse(name, `this is a link that leads out of ${folder}, to ${target}`)
    return FileSource.open(path)
  }
}

function refuse(file: string, message: string): never {
  failWith(ioCodes['unsafe-path'], { file, message })
}
