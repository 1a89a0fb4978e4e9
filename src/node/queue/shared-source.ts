// A source that other machines can open as well: it knows the way from the address that the user gave to its file.
import { resolve } from 'node:path'
import type { ByteSource, SharedPlace, SourceHandle } from '../../bytes/index.js'
import { isRemote } from '../remote/remote-input.js'

type Steps = SharedPlace['steps']

/** The address as all machines see it. */
export const sharedAddress = (input: string): string => (isRemote(input) ? input : resolve(input))

/** Everything is passed on to the source, but for the handle. Files that belong to it can be opened elsewhere, too. */
export function sharedSource(source: ByteSource, address: string): ByteSource {
  // The same file is the same source, no matter who asks for it.
  const known = new WeakMap<ByteSource, ByteSource>()
  const share = (each: ByteSource, steps: Steps): ByteSource => {
    const there = known.get(each)
    if (there) return there
    const { name, size, version } = each
    const place: SharedPlace = { kind: 'shared', address, steps, ...(version !== undefined && { version }) }
    const handle: SourceHandle = { name, size, ...place }
    const opening = (step: Steps[number][0]) => {
      const open = each[step]?.bind(each) as
        | ((name: string, hint: unknown) => Promise<ByteSource | undefined>)
        | undefined
      if (!open) return undefined
      return async (file: string, hint: unknown) => {
        const opened = await open(file, hint)
        return opened && share(opened, [...steps, [step, file]])
      }
    }
    const [sibling, below, sameOrigin] = [opening('sibling'), opening('below'), opening('sameOrigin')]
    const wrapped = {
      ...{ name, size, handle },
      ...(each.folder && { folder: each.folder }),
      ...(each.stored && { stored: each.stored }),
      ...(version !== undefined && { version }),
      read: each.read.bind(each),
      ...(each.readInto && { readInto: each.readInto.bind(each) }),
      ...(sibling && { sibling }),
      ...(below && { below }),
      ...(sameOrigin && { sameOrigin }),
      ...(each.assertUnchanged && { assertUnchanged: each.assertUnchanged.bind(each) }),
      close: () => each.close(),
    } as ByteSource
    known.set(each, wrapped)
    return wrapped
  }
  return share(source, [])
}
