// A file with others around it: an object in a bucket, a file of a repository. Reads go to the file; its siblings are opened by their paths
// from the same root.
import {
  type ByteSource,
  isPathBelow,
  isPlainFileName,
  type OpenHint,
  type SourceFolder,
  type StoredObject,
} from '../bytes/index.js'
import { failWith, ioCodes } from '../errors/index.js'

export interface Surroundings {
  readonly name: string
  /** From the root, with slashes. */
  readonly path: string
  readonly folder?: SourceFolder | undefined
  readonly stored?: StoredObject | undefined
  open(path: string, hint?: OpenHint): Promise<ByteSource>
  /** Opens an address that another file names, if it is one of the same root. */
  openNamed?(address: string, hint?: OpenHint): Promise<ByteSource | undefined>
}

export function withSurroundings(source: ByteSource, around: Surroundings): ByteSource {
  const { name, path, folder, stored, open, openNamed } = around
  const home = path.slice(0, path.lastIndexOf('/') + 1)
  const openBelow = (isSafe: (path: string) => boolean) => async (below: string, hint?: OpenHint) => {
    if (!isSafe(below)) failWith(ioCodes['unsafe-path'], { file: below, message: 'it leads elsewhere' })
    return open(home + below, hint)
  }
  return {
    name,
    size: source.size,
    ...(folder && { folder }),
    ...(stored && { stored }),
    ...(source.version !== undefined && { version: source.version }),
    get handle() {
      return source.handle
    },
    read: (offset, length, options) => source.read(offset, length, options),
    ...(source.readInto && { readInto: (offset, target, options) => source.readInto!(offset, target, options) }),
    sibling: openBelow(isPlainFileName),
    below: openBelow(isPathBelow),
    ...(openNamed && { sameOrigin: openNamed }),
    ...(source.assertUnchanged && { assertUnchanged: () => source.assertUnchanged!() }),
    close: () => source.close(),
  }
}
