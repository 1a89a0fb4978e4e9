// From what the page has to a source of bytes.
import { BlobSource, type ByteSource, openSource, type SourceFolder } from 'tare/kit'
import type { ModelFiles } from './open.js'

const nameOf = (path: string): string => path.replace(/^.*\//, '')
const folderOf = (path: string): string => path.slice(0, -nameOf(path).length)

export async function openInput(from: ModelFiles, signal?: AbortSignal): Promise<ByteSource> {
  if (from.kind === 'address') {
    const source = await openSource(from.address, { signal })
    // A model without a name of its own is called after its file in some formats: as the user knows it, not as it is served.
    if (from.name !== undefined) Object.assign(source, { name: from.name })
    // With its configuration and tokenizer, as from a folder that is dropped.
    return from.folder ? withFolder(source, from.folder.name, from.folder.files) : source
  }
  const [main] = from.files
  if (!main) throw new Error('a model has at least one file')
  const base = folderOf(main.path)
  // The other files are known by their paths below the folder of the main one.
  const siblings = new Map<string, Blob>()
  for (const { path, file } of from.files) if (path.startsWith(base)) siblings.set(path.slice(base.length), file)
  const source = new BlobSource(main.file, nameOf(main.path), siblings)
  return from.isFolder ? withFolder(source, nameOf(base.slice(0, -1)), [...siblings.keys()]) : source
}

function withFolder(source: ByteSource, name: string, paths: readonly string[]): ByteSource {
  const files = paths.filter((each) => !each.includes('/'))
  const below = paths.filter((each) => each.includes('/'))
  const folder: SourceFolder = { name, files, below, isWhole: true }
  return Object.assign(source, { folder })
}
