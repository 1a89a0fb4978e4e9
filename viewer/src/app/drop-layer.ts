// The whole page takes files, whatever is shown. Folders are walked, so that an index finds its shards.

import type { NamedFile } from '../engine/rooms/models/open.js'
import { messageOf } from '../engine/wire.js'
import { notify } from '../state/announce.js'
import { addFiles } from '../state/models.js'

/** A model directory has some dozen files; a home directory dropped by mistake should not be read to its end. */
const maxFiles = 10_000

async function filesOf(entry: FileSystemEntry, into: NamedFile[]): Promise<void> {
  if (into.length >= maxFiles) return
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    into.push({ path: entry.fullPath.replace(/^\//, ''), file })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return
    for (const each of some) await filesOf(each, into)
  }
}

async function take(transfer: DataTransfer): Promise<void> {
  // The entries must be asked for before the first wait: afterwards the list is empty.
  const entries = [...transfer.items].flatMap((item) => (item.kind === 'file' ? (item.webkitGetAsEntry() ?? []) : []))
  const files: NamedFile[] = []
  for (const entry of entries) await filesOf(entry, files)
  if (files.length >= maxFiles) notify(`only the first ${maxFiles} files were taken`)
  await addFiles(files)
}

export function listenForDrops(): void {
  const root = document.documentElement
  let depth = 0
  const mark = (change: number): void => {
    depth = Math.max(0, depth + change)
    root.toggleAttribute('data-dropping', depth > 0)
  }
  root.addEventListener('dragenter', () => mark(1))
  root.addEventListener('dragleave', () => mark(-1))
  root.addEventListener('dragover', (event) => event.preventDefault())
  root.addEventListener('drop', (event) => {
    event.preventDefault()
    mark(-depth)
    if (event.dataTransfer) void take(event.dataTransfer).catch((error: unknown) => notify(messageOf(error)))
  })
}
