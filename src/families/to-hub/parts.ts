// The files of a directory that is being made.
import { encodeUtf8 } from '../../bytes/index.js'
import { filePart } from '../../content/companions.js'
import { bytesPayload, type Part } from '../../model/index.js'
import type { Config } from '../family.js'

/** JSON, or bytes as they are. */
export type FileContent = Config | readonly Config[] | Uint8Array

export const partOf = (name: string, content: FileContent): Part =>
  filePart(
    name,
    bytesPayload(content instanceof Uint8Array ? content : encodeUtf8(`${JSON.stringify(content, null, 2)}\n`)),
  )
