// Repositories of the hub, with the token and the cache that its own programs keep.
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { openFromRepository } from '../../api/stores.js'
import type { ByteSource } from '../../bytes/index.js'
import { failWith } from '../../errors/index.js'
import { defaultHub, type HubAddress, nameOfHubFile, parseHubAddress } from '../../remote/hub/address.js'
import { findRepository, type Repository } from '../../remote/hub/repository.js'
import { remoteCodes } from '../../remote/index.js'
import { FileSource } from '../files/file-source.js'
import { guardFor, type RemoteOptions, storeFor } from './open-remote.js'
import { throughXet } from './xet.js'

/** The origin of the hub. */
const hubOrigin = (): string => (process.env.HF_ENDPOINT || defaultHub).replace(/\/+$/, '')

export const hubAddress = (address: string): HubAddress | undefined => parseHubAddress(address, hubOrigin())

/** Opens a file of a repository, or the model in a folder of it. */
export async function openHub(address: HubAddress, options: RemoteOptions = {}): Promise<ByteSource> {
  const repository = await repositoryAt(address, options)
  return openFromRepository(repository, address.path, options.onFinding)
}

/** The repository at the commit that its revision is now. Files that the local cache has are read from there. */
export async function repositoryAt(
  address: HubAddress,
  options: RemoteOptions = {},
  wanted?: { readonly sizes?: boolean },
): Promise<Repository> {
  if (isOffline()) return cachedRepository(address)
  const hub = hubOrigin()
  const token = await findToken()
  const requests = guardFor(new URL(hub))
  const found = await findRepository(
    address,
    {
      ...storeFor(options),
      hub,
      headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...options.headers },
      ...requests,
    },
    wanted,
  )
  const snapshot = snapshotOf(address, found.revision)
  return {
    ...found,
    open: async (path, hint) => (await openCached(join(snapshot, path))) ?? found.open(path, hint),
    openWhole: async (path) =>
      (await openCached(join(snapshot, path))) ??
      throughXet(await found.open(path), { place: found, path, hub, token, requests }),
  }
}

const isOffline = (): boolean => /^(1|on|yes|true)$/i.test(process.env.HF_HUB_OFFLINE ?? '')

const hubHome = (): string =>
  process.env.HF_HOME || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface')

const cacheFolder = ({ kind, repository }: HubAddress): string =>
  join(process.env.HF_HUB_CACHE || join(hubHome(), 'hub'), `${kind}--${repository.replaceAll('/', '--')}`)

const snapshotOf = (address: HubAddress, commit: string): string => join(cacheFolder(address), 'snapshots', commit)

async function openCached(path: string): Promise<ByteSource | undefined> {
  const isThere = (await stat(path).catch(() => undefined))?.isFile()
  return isThere ? FileSource.open(path) : undefined
}

/** The environment, then the file that logging in writes. */
async function findToken(): Promise<string | undefined> {
  if (/^(1|on|yes|true)$/i.test(process.env.HF_HUB_DISABLE_IMPLICIT_TOKEN ?? '')) return undefined
  const given = process.env.HF_TOKEN || process.env.HUGGING_FACE_HUB_TOKEN
  const path = process.env.HF_TOKEN_PATH || join(hubHome(), 'token')
  const token = given ?? (await readFile(path, 'utf8').catch(() => ''))
  // What is not a token must not break the request.
  return /^[\x21-\x7e]+$/.test(token.trim()) ? token.trim() : undefined
}

/** What the cache has of a revision, where the network is not to be used. */
async function cachedRepository(address: HubAddress): Promise<Repository> {
  const { revision } = address
  const known = await readFile(join(cacheFolder(address), 'refs', revision), 'utf8').catch(() => revision)
  const commit = /^[0-9a-f]{40}$/.test(known.trim()) ? known.trim() : undefined
  const snapshot = commit === undefined ? undefined : snapshotOf(address, commit)
  const paths = snapshot === undefined ? [] : await filesBelow(snapshot)
  if (commit === undefined || snapshot === undefined || paths.length === 0) {
    const message = 'HF_HUB_OFFLINE is set, and the cache of the hub does not have it'
    return failWith(remoteCodes.unreachable, { file: nameOfHubFile(address, address.path), message })
  }
  return {
    ...address,
    revision: commit,
    files: paths.map((path) => ({ path })),
    open: (path) => FileSource.open(join(snapshot, path)),
  }
}

/** Links, as the cache has them, count as what they lead to. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(directory.length + 1)
        .replaceAll('\\', '/'),
    )
}
