// Where conversions in a page write to: a file that the user chose, or one in the browser's own storage that is downloaded afterwards. A
// file that was chosen keeps its old content until all of the new is there.
import type { ByteSink, OpenSink } from 'tare'

/** A finished file in the browser's storage. */
export interface Kept {
  readonly name: string
  readonly file: File
}

const folderName = 'tare-output'

export async function sinkOf(
  handle: FileSystemFileHandle,
  onClose: () => Promise<void> = async () => {},
): Promise<ByteSink> {
  const stream = await handle.createWritable()
  let position = 0
  return {
    name: handle.name,
    canPatch: true,
    get position() {
      return position
    },
    async write(bytes) {
      // The stream keeps what it is given until it is written; the caller uses its memory again at once.
      await stream.write(bytes.slice())
      position += bytes.byteLength
    },
    async patch(offset, bytes) {
      await stream.write({ type: 'write', position: offset, data: bytes.slice() })
      await stream.seek(position)
    },
    async close() {
      await stream.close()
      await onClose()
    },
    abort: () => stream.abort().catch(() => {}),
  }
}

/** Sinks in the browser's storage; what becomes of them is added to `kept`, in the order in which they are closed. */
export async function keptSinks(kept: Kept[]): Promise<OpenSink> {
  const root = await navigator.storage.getDirectory()
  const folder = await root.getDirectoryHandle(folderName, { create: true })
  const open = async (name: string): Promise<ByteSink> => {
    const handle = await folder.getFileHandle(name, { create: true })
    const sink = await sinkOf(handle, async () => {
      kept.push({ name, file: await handle.getFile() })
    })
    return Object.assign(sink, { sibling: open })
  }
  return open
}

export async function removeKept(): Promise<void> {
  const root = await navigator.storage.getDirectory()
  await root.removeEntry(folderName, { recursive: true }).catch(() => {})
}
