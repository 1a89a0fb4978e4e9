// The files that `tare view` was started with. From any other server there is no such list, and the page starts empty.
import { address, go } from './location.js'
import { addModel, models } from './models.js'
import { isOffline } from './offline.js'

export interface ServedFile {
  readonly name: string
  readonly size: number
  /** Below the page: `files/GROUP/NAME`, so that the files of a group find each other by name. */
  readonly address: string
  /** Files of one model have the same; the first of them is the main one. */
  readonly group: number
  /** Of the main file of a model that is a directory: what that is called. */
  readonly folder?: string | undefined
}

export interface ServedFiles {
  readonly files: readonly ServedFile[]
  /** How the command was called; paths in copied commands come from here. */
  readonly command: readonly string[]
}

export async function openServedFiles(): Promise<void> {
  if (isOffline) return
  const response = await fetch(new URL('files.json', document.baseURI)).catch(() => undefined)
  if (!response?.ok || !response.headers.get('content-type')?.includes('json')) return
  const served = (await response.json()) as ServedFiles
  const groups = new Map<number, ServedFile[]>()
  for (const file of served.files) groups.set(file.group, [...(groups.get(file.group) ?? []), file])
  // A copied command names what the user named, so that it runs where the command runs.
  const inputs = served.command.slice(2)
  const opening = [...groups.values()].map((files) => {
    const { address: place, name, group, folder: title } = files[0]!
    const folder = title === undefined ? undefined : { name: title, files: files.map((file) => file.name) }
    const argument = inputs[group] ?? name
    const from = { address: new URL(place, document.baseURI).href, name: argument, folder }
    return addModel({ kind: 'address', ...from }, argument)
  })
  if (models.peek().length > 0 && address.peek().model === undefined) go({ model: 0, screen: 'overview', query: {} })
  await Promise.all(opening)
}
