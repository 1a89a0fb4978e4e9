// What is at an address: the files of a folder of the hub or below a prefix of a store, or those of the model that an address names.
import { type ByteSource, isPathBelow } from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { openModel } from '../../formats/index.js'
import { closeModel } from '../../model/index.js'
import { remoteCodes } from '../../remote/codes.js'
import { addressBeside, HttpSource } from '../../remote/http-source.js'
import { type HubAddress, nameOfHubFile } from '../../remote/hub/address.js'
import { isFolderAddress, listFolder } from '../../remote/listing.js'
import { isS3Address, parseS3Address } from '../../remote/s3/address.js'
import { listObjects } from '../../remote/s3/list.js'
import { openObject } from '../../remote/s3/object.js'
import { hubAddress, repositoryAt } from '../remote/open-hub.js'
import { openRemote, type RemoteOptions, requestsTo } from '../remote/open-remote.js'
import { clientFor } from '../remote/open-s3.js'

export interface RemoteFile {
  /** Where it goes below the directory, with slashes. */
  readonly path: string
  /** Names it in messages. */
  readonly address: string
  readonly size: number
  /** Identifies its bytes; without it a download that was interrupted begins again. */
  readonly version?: string | undefined
  /** What the server says its bytes are. */
  readonly digest?: { readonly algorithm: 'sha256' | 'md5'; readonly hex: string } | undefined
  open(): Promise<ByteSource>
}

/** What is at an address by itself: a file, or a folder with everything below it. */
export interface Place {
  readonly isFolder: boolean
  readonly files: readonly RemoteFile[]
  /** What no directory could have, or lies too deep. */
  readonly leftOut: readonly string[]
}

/** All files at an address, those that an index names included. Nothing of them is kept in the cache, since they are kept where they go. */
export async function filesAt(address: string, given: RemoteOptions = {}): Promise<readonly RemoteFile[]> {
  const options = { ...given, cache: false }
  return (await listed(address, options))?.files ?? filesOfModel(address, options)
}

/** The file or the folder at an address. A file is alone, whatever it names. */
export async function placeAt(address: string, given: RemoteOptions = {}): Promise<Place> {
  const options = { ...given, cache: false }
  const place = await listed(address, options)
  if (place) return place
  if (isFolderAddress(address))
    failWith(ioCodes['not-found'], { file: address, message: 'the server shows no list of the files there' })
  const file = await openedFile(new URL(address).pathname.split('/').at(-1)!, () => openRemote(address, options))
  return { isFolder: false, files: [file], leftOut: [] }
}

/** Undefined where nothing lists files: at a file of a web server, or a folder without a listing. */
async function listed(address: string, options: RemoteOptions): Promise<Place | undefined> {
  const repository = hubAddress(address)
  if (repository) return filesOfRepository(repository, options)
  if (isS3Address(address)) return filesOfBucket(address, options)
  return filesOfFolder(address, options)
}

async function filesOfRepository(address: HubAddress, options: RemoteOptions): Promise<Place> {
  const repository = await repositoryAt(address, options, { sizes: true })
  const isFile = repository.files.some(({ path }) => path === address.path)
  const folder = isFile ? address.path.slice(0, address.path.lastIndexOf('/') + 1) : asFolder(address.path)
  const chosen = repository.files.filter(({ path }) => (isFile ? path === address.path : path.startsWith(folder)))
  if (chosen.length === 0) failMissing(nameOfHubFile(repository, address.path))
  const files = await Promise.all(
    chosen.map(async ({ path, size, sha256 }): Promise<RemoteFile> => {
      return {
        path: path.slice(folder.length),
        address: nameOfHubFile(repository, path),
        size: size ?? (await sizeOf(() => repository.open(path))),
        version: sha256 ?? repository.revision,
        ...(sha256 !== undefined && { digest: { algorithm: 'sha256', hex: sha256 } }),
        // What has no digest is small.
        open: () => (sha256 === undefined ? repository.open(path) : (repository.openWhole ?? repository.open)(path)),
      }
    }),
  )
  return { isFolder: !isFile, files, leftOut: [] }
}

const asFolder = (path: string): string => (path === '' || path.endsWith('/') ? path : `${path}/`)

async function sizeOf(open: () => Promise<ByteSource>): Promise<number> {
  const source = await open()
  await source.close()
  return source.size
}

async function filesOfBucket(address: string, options: RemoteOptions): Promise<Place> {
  const place = parseS3Address(address)
  const { key } = place
  const client = await clientFor(place, options.s3)
  const { objects } = await listObjects(client, key, { deep: true, signal: options.signal })
  const same = objects.filter((object) => object.key === key)
  const folder = same.length > 0 ? key.slice(0, key.lastIndexOf('/') + 1) : asFolder(key)
  const chosen = same.length > 0 ? same : objects.filter((object) => object.key.startsWith(folder))
  const isNamed = ({ key }: { readonly key: string }): boolean => isPathBelow(key.slice(folder.length))
  const named = chosen.filter(isNamed)
  if (named.length === 0) failMissing(address)
  const files = named.map(({ key, size, etag }): RemoteFile => {
    // Objects that were uploaded in one piece have the MD5 of their bytes as ETag, unless the store encrypts them.
    const [, md5] = /^"?([0-9a-f]{32})"?$/.exec(etag ?? '') ?? []
    return {
      path: key.slice(folder.length),
      address: client.nameOfKey(key),
      size,
      version: etag,
      ...(md5 !== undefined && { digest: { algorithm: 'md5', hex: md5 } }),
      open: () => openObject(client, key, { signal: options.signal }),
    }
  })
  const leftOut = chosen.filter((object) => !isNamed(object)).map(({ key }) => client.nameOfKey(key))
  return { isFolder: same.length === 0, files, leftOut }
}

function withoutLogin(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}

function failMissing(file: string): never {
  return failWith(ioCodes['not-found'], { file, message: 'there is no such file or folder' })
}

/** A server can make up folders below folders without an end. */
const [maxDepth, maxFolders, maxFiles] = [8, 1000, 20_000]

/** What the listing of a web server shows, with the folders below; undefined where the address is not that of a folder with a listing. */
async function filesOfFolder(address: string, options: RemoteOptions): Promise<Place | undefined> {
  if (!isFolderAddress(address)) return undefined
  const requests = requestsTo(address, options)
  const home = new URL(address)
  const found: RemoteFile[] = []
  const leftOut: string[] = []
  let folders = 0
  const visit = async (path: string): Promise<boolean> => {
    folders++
    const listing = await listFolder(path === '' ? address : addressBeside(home, path).href, requests)
    const { length: more } = listing?.files ?? []
    if (folders > maxFolders || found.length + more > maxFiles) {
      const message = `it has more than ${maxFolders} folders or ${maxFiles} files; fetch one of its folders`
      failWith(remoteCodes['too-large'], { file: address, message })
    }
    for (const name of listing?.files ?? []) {
      found.push(await openedFile(path + name, () => HttpSource.open(addressBeside(home, path + name).href, requests)))
    }
    for (const name of listing?.folders ?? [])
      if (path.split('/').length <= maxDepth) await visit(`${path}${name}/`)
      else leftOut.push(addressBeside(home, path + name).href)
    return listing !== undefined
  }
  if (!(await visit(''))) return undefined
  if (found.length === 0) failMissing(address)
  return { isFolder: true, files: found, leftOut }
}

/** A file whose size is known when it is opened. That may bring all of it, since some servers know no ranges, so it is not closed. */
async function openedFile(path: string, open: () => Promise<ByteSource>): Promise<RemoteFile> {
  const source = await open()
  let opened: ByteSource | undefined = source
  const openOnce = async (): Promise<ByteSource> => {
    const first = opened
    opened = undefined
    return first ?? open()
  }
  const version = source instanceof HttpSource ? source.etag : undefined
  return { path, address: source.name, size: source.size, version, open: openOnce }
}

/** The files that an index names, beside the index itself. Other addresses than those below it are not followed. */
async function filesOfModel(address: string, options: RemoteOptions): Promise<RemoteFile[]> {
  const main = await openRemote(address, options)
  const model = await openModel(main, options).catch(async (error) => {
    await main.close()
    throw error
  })
  try {
    const plain = withoutLogin(address)
    const home = new URL('.', plain).href
    return model.files.map(({ name, size }, i): RemoteFile => {
      // Names have neither passwords nor signatures.
      const { href } = new URL(i === 0 ? plain : name)
      const path = decodeURIComponent(href.slice(home.length).replace(/[?#].*$/, ''))
      if (!href.startsWith(home) || !isPathBelow(path))
        failWith(ioCodes['unsafe-path'], { file: name, message: 'it lies elsewhere than the file that names it' })
      const from = i === 0 ? address : addressBeside(new URL(address), path).href
      const open = () => openRemote(from, options)
      return { path, address: name, size, version: main instanceof HttpSource && i === 0 ? main.etag : undefined, open }
    })
  } finally {
    await closeModel(model)
  }
}
