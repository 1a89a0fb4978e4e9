// A folder on a web server, as its listing shows it: a page with links, as Apache, nginx, Caddy and Python make them, or the list in JSON that
// nginx and Caddy can make. Only links to what lies right in the folder count.
import { type ByteSource, decodeLossy, isPlainFileName } from '../bytes/index.js'
import { decodePercent } from './decode-percent.js'
import { type HttpOptions, HttpSource } from './http-source.js'

export interface Listing {
  /** Plain names. */
  readonly files: readonly string[]
  readonly folders: readonly string[]
}

/** A list of fifty thousand files has about this size. */
const maxListing = 8 << 20

export const isFolderAddress = (address: string): boolean =>
  URL.canParse(address) && new URL(address).pathname.endsWith('/')

/** What is in a folder; undefined if there is something other than a listing at the address. */
export async function listFolder(address: string, options: HttpOptions): Promise<Listing | undefined> {
  const source = await openListing(address, options)
  try {
    const start = decodeLossy(await source.read(0, Math.min(source.size, 256))).trimStart()
    if (!/^[<[]/.test(start) || source.size > maxListing) return undefined
    const text = decodeLossy(await source.read(0, source.size))
    return start.startsWith('<') ? parsePage(text, address) : parseList(text)
  } finally {
    await source.close()
  }
}

/** Listings are made when they are asked for: they have no ranges, and nothing of them is kept. */
function openListing(address: string, options: HttpOptions): Promise<ByteSource> {
  const own = { store: undefined, keepWhole: undefined, onFinding: undefined, downloadLimit: maxListing }
  return HttpSource.open(address, { ...options, ...own })
}

const link = /<a\s[^>]{0,200}?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi

function parsePage(page: string, address: string): Listing {
  const home = new URL(address)
  const found = { files: new Set<string>(), folders: new Set<string>() }
  for (const [, quoted, single, bare] of page.matchAll(link)) {
    const href = (quoted ?? single ?? bare ?? '').replaceAll('&amp;', '&')
    const url = URL.canParse(href, home.href) ? new URL(href, home.href) : undefined
    // Links that sort the list have a query.
    if (url?.search !== '' || url.origin !== home.origin || !url.pathname.startsWith(home.pathname)) continue
    const rest = url.pathname.slice(home.pathname.length)
    const name = decodePercent(rest.replace(/\/$/, ''))
    if (isPlainFileName(name)) (rest.endsWith('/') ? found.folders : found.files).add(name)
  }
  return { files: [...found.files], folders: [...found.folders] }
}

/** nginx says `"type": "directory"`, Caddy `"is_dir": true`. */
function parseList(text: string): Listing | undefined {
  let list: readonly ({ name?: unknown; type?: unknown; is_dir?: unknown } | null)[]
  try {
    list = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(list) || !list.every((each) => typeof each?.name === 'string')) return undefined
  const isFolder = (each: (typeof list)[number]): boolean => each?.type === 'directory' || each?.is_dir === true
  const names = (entries: typeof list): string[] =>
    entries.map((each) => String(each!.name).replace(/\/$/, '')).filter(isPlainFileName)
  return { files: names(list.filter((each) => !isFolder(each))), folders: names(list.filter(isFolder)) }
}
