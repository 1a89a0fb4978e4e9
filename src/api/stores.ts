// Models in buckets and repositories: a file of them, or a folder that holds one model.
import type { ByteSource, OpenHint } from '../bytes/index.js'
import { templateFolder } from '../content/companions.js'
import { type Finding, failWith, ioCodes } from '../errors/index.js'
import { formats } from '../formats/index.js'
import { mainFileIn } from '../formats/main-file.js'
import { withSurroundings } from '../remote/beside.js'
import { addressBeside, type HttpOptions, HttpSource } from '../remote/http-source.js'
import { defaultHub, nameOfHubFile, parseHubAddress } from '../remote/hub/address.js'
import { findRepository, type Repository } from '../remote/hub/repository.js'
import { isFolderAddress, listFolder } from '../remote/listing.js'
import { isNotFound, nameOf } from '../remote/request.js'
import { isS3Address, parseS3Address } from '../remote/s3/address.js'
import { S3Client } from '../remote/s3/client.js'
import { listObjects } from '../remote/s3/list.js'
import { type ObjectOptions, openObject } from '../remote/s3/object.js'
import type { OpenRequest } from './host.js'

/** What is in a bucket or a repository, without a host that knows credentials. Undefined for other addresses. */
export async function openStored(
  address: string,
  { headers, s3, onFinding, signal }: OpenRequest,
): Promise<ByteSource | undefined> {
  if (isS3Address(address)) {
    const { scheme, bucket, key } = parseS3Address(address)
    return openFromBucket(new S3Client(bucket, { ...s3, scheme }), key, { onFinding, signal })
  }
  const place = parseHubAddress(address, defaultHub)
  return place && openFromRepository(await findRepository(place, { headers, signal }), place.path, onFinding)
}

/** A file on a web server, or the model in a folder whose address ends with a slash and has a listing. */
export async function openFromServer(address: string, options: HttpOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  const listing = isFolderAddress(address) ? await listFolder(address, options) : undefined
  if (!listing) return HttpSource.open(address, options, hint)
  const url = new URL(address)
  const files = visible(listing.files)
  const main = mainFileIn(nameOf(url, {}), files, formats, options.onFinding)
  const open = (path: string, hint?: OpenHint) => HttpSource.open(addressBeside(url, path).href, options, hint)
  const source = await open(main)
  return withSurroundings(source, {
    name: source.name,
    path: main,
    folder: { name: url.pathname.split('/').at(-2) || url.hostname, files, isWhole: true },
    open,
    openNamed: (other, hint) => source.sameOrigin(other, hint),
  })
}

type OnFinding = ((finding: Finding) => void) | undefined

/** An object, or the model below a prefix. A key that is none may be the name of a folder. */
export async function openFromBucket(
  client: S3Client,
  key: string,
  options: ObjectOptions = {},
  hint?: OpenHint,
): Promise<ByteSource> {
  if (key === '' || key.endsWith('/')) return openPrefix(client, key, options)
  try {
    return await openObject(client, key, options, { hint })
  } catch (error) {
    if (!isNotFound(error)) throw error
    const { objects } = await listObjects(client, `${key}/`, options).catch(() => ({ objects: [] }))
    if (objects.length === 0) throw error
    return openPrefix(client, `${key}/`, options)
  }
}

async function openPrefix(client: S3Client, prefix: string, options: ObjectOptions): Promise<ByteSource> {
  const { bucket } = client
  const { objects } = await listObjects(client, prefix, options)
  const files = visible(objects.map(({ key }) => key.slice(prefix.length)))
  const main = mainFileIn(client.nameOfKey(prefix), files, formats, options.onFinding)
  const name = prefix.split('/').at(-2) || bucket
  return openObject(client, prefix + main, options, { folder: { name, files, isWhole: true } })
}

const visible = (names: readonly string[]): string[] => names.filter((name) => !name.startsWith('.')).sort()

/** A file of a repository, or the model in a folder of it. */
export async function openFromRepository(
  repository: Repository,
  path: string,
  onFinding?: OnFinding,
): Promise<ByteSource> {
  const { files } = repository
  if (files.some((file) => file.path === path)) return openFile(repository, path)
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`
  const below = files.filter((file) => file.path.startsWith(folder)).map((file) => file.path.slice(folder.length))
  const name = nameOfHubFile(repository, path)
  if (below.length === 0)
    failWith(ioCodes['not-found'], { file: name, message: 'the repository has no such file or folder' })
  const names = visible(below.filter((each) => !each.includes('/')))
  const main = mainFileIn(name, names, formats, onFinding)
  const title = folder.split('/').at(-2) || repository.repository.split('/')[1]!
  const templates = below.filter((each) => each.startsWith(`${templateFolder}/`))
  return openFile(repository, folder + main, { name: title, files: names, below: templates, isWhole: true })
}

async function openFile(
  repository: Repository,
  path: string,
  folder?: ByteSource['folder'],
  hint?: OpenHint,
): Promise<ByteSource> {
  const source = await repository.open(path, hint)
  const open = (other: string, hint?: OpenHint) => openFile(repository, other, undefined, hint)
  return withSurroundings(source, { name: nameOfHubFile(repository, path), path, folder, open })
}
