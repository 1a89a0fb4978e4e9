// A repository of the hub at one commit. The hub is asked once which commit a revision is and which files it has; all files are then those of
// that commit. The token goes to the origin of the hub, and not where it redirects to.
import { type ByteSource, isPathBelow, type OpenHint } from '../../bytes/index.js'
import { failWith } from '../../errors/index.js'
import { readText } from '../body.js'
import { remoteCodes } from '../codes.js'
import { type HttpOptions, HttpSource } from '../http-source.js'
import { answerTo, StatusError } from '../request.js'
import { withRetries } from '../retry.js'
import { defaultHub, type HubAddress, nameOfHubFile } from './address.js'

export interface HubOptions extends Omit<HttpOptions, 'nameOf'> {
  /** The origin of the hub. Default: https://huggingface.co. */
  readonly hub?: string | undefined
}

export interface HubFile {
  /** With slashes. */
  readonly path: string
  readonly size?: number | undefined
  /** Of files that are stored outside of git, as large ones are. */
  readonly sha256?: string | undefined
}

export interface Repository extends Omit<HubAddress, 'path'> {
  /** Here a commit. */
  readonly revision: string
  readonly files: readonly HubFile[]
  open(path: string, hint?: OpenHint): Promise<ByteSource>
  /** The same for a file that will be read from its start to its end, where the host has another way for that. */
  openWhole?(path: string): Promise<ByteSource>
}

/** A list of a hundred thousand files has about this size. */
const maxAnswer = 32 << 20
const maxRedirects = 3

/** Asks the hub for a commit and its files; with `sizes` also how large they are. */
export async function findRepository(
  address: HubAddress,
  options: HubOptions = {},
  { sizes = false } = {},
): Promise<Repository> {
  const { kind, repository, revision } = address
  const hub = options.hub ?? defaultHub
  const url = new URL(`${hub}/api/${kind}/${repository}/revision/${encodeURIComponent(revision)}`)
  if (sizes) url.searchParams.set('blobs', 'true')
  const settings = { ...options, nameOf: () => nameOfHubFile(address, address.path) }
  const signal = options.signal ?? new AbortController().signal
  const answer = await withRetries(url, 0, settings, signal, (attempt) => askHub(url, settings, attempt))
  const { id = repository, sha, files } = parseAnswer(answer, settings.nameOf())
  const pinned = { kind, repository: id, revision: sha }
  const folder = `${hub}/${kind === 'datasets' ? 'datasets/' : ''}${id}/resolve/${sha}/`
  return {
    ...pinned,
    files,
    open: (path, hint) => {
      const file = `${folder}${path.split('/').map(encodeURIComponent).join('/')}`
      return HttpSource.open(file, { ...options, nameOf: () => nameOfHubFile(pinned, path) }, hint)
    },
  }
}

/** A repository that got another name is redirected, within the hub. */
async function askHub(start: URL, settings: HttpOptions, signal: AbortSignal): Promise<string> {
  let url = start
  for (let hops = 0; hops <= maxRedirects; hops++) {
    await settings.checkAddress?.(url)
    const headers = { ...settings.headers, Accept: 'application/json' }
    const response = await answerTo(url, { headers, redirect: isBrowser ? 'follow' : 'manual' }, settings, signal)
    const { status } = response
    const text = await readText(response, url, maxAnswer, settings, signal)
    if (status === 200) return text
    const location = response.headers.get('location')
    const next = location !== null && URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
    if (status < 300 || status >= 400 || next?.origin !== start.origin)
      throw new StatusError(status, response.headers.get('retry-after'), reasonFor(status))
    url = next
  }
  throw new StatusError(310, null, `more than ${maxRedirects} redirects`)
}

/** A browser does not show redirects, and never takes a token to another origin. */
const isBrowser = globalThis.location !== undefined

function reasonFor(status: number): string {
  if (status === 404) return 'there is no such repository or revision'
  if (status === 401 || status === 403)
    return 'there is no such repository, or it needs a token that may read it: set HF_TOKEN'
  return ''
}

interface Commit {
  /** `owner/name`, which is another one after a redirect. */
  readonly id?: string | undefined
  readonly sha: string
  readonly files: readonly HubFile[]
}

function parseAnswer(text: string, file: string): Commit {
  const refuse = (): never =>
    failWith(remoteCodes['bad-answer'], { file, message: 'the hub did not say which commit this is and what it holds' })
  let root: Partial<Record<'id' | 'sha' | 'siblings', unknown>>
  try {
    root = JSON.parse(text) ?? {}
  } catch {
    return refuse()
  }
  const { id, sha, siblings } = root
  if (typeof sha !== 'string' || !/^[0-9a-f]{40,64}$/.test(sha) || !Array.isArray(siblings)) return refuse()
  const files = siblings.flatMap((each): HubFile[] => {
    const path: unknown = each?.rfilename
    if (typeof path !== 'string' || !isPathBelow(path)) return []
    const sha256: unknown = each?.lfs?.sha256 ?? each?.lfs?.oid
    const isDigest = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
    const isSize = Number.isSafeInteger(each?.size) && each.size >= 0
    return [{ path, ...(isSize && { size: each.size as number }), ...(isDigest && { sha256 }) }]
  })
  return { id: typeof id === 'string' && /^[\w.-]+\/[\w.-]+$/.test(id) ? id : undefined, sha, files }
}
