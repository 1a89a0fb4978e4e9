// `hf://owner/repo[@revision][/path]`, with `datasets/` in front for a dataset, and the addresses that a browser shows of the same.
import { failWith } from '../../errors/index.js'
import { remoteCodes } from '../codes.js'
import { decodePercent } from '../decode-percent.js'

export interface HubAddress {
  readonly kind: 'models' | 'datasets'
  /** `owner/name`. */
  readonly repository: string
  readonly revision: string
  /** A file or folder of the repository, with slashes; empty for all of it. */
  readonly path: string
}

export const defaultHub = 'https://huggingface.co'

/** Pages of the hub that look like a repository and are none. */
const pages: ReadonlySet<string> = new Set(
  'api blog chat collections docs enterprise join learn login models new organizations papers posts pricing settings spaces tasks'.split(
    ' ',
  ),
)

/** Undefined for every other address. `hub` is the origin of the hub. */
export function parseHubAddress(text: string, hub: string): HubAddress | undefined {
  if (/^hf:\/\//i.test(text)) return parseShort(text)
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  const isHub = origin === hub || (hub === defaultHub && /^https:\/\/(www\.)?(hf\.co|huggingface\.co)$/.test(origin))
  return isHub ? parsePage(pathname) : undefined
}

function parseShort(text: string): HubAddress {
  const [, kind, repository, revision, path = ''] =
    /^hf:\/\/(?:(models|datasets|spaces)\/)?([\w.-]+\/[\w.-]+)(?:@(refs\/[^/]+\/[^/]+|[^/]+))?(?:\/(.*))?$/is.exec(
      text,
    ) ?? []
  const refuse = (message: string): never => failWith(remoteCodes['bad-address'], { file: text, message })
  if (repository === undefined) return refuse('hf://OWNER/REPOSITORY[@REVISION][/PATH] is wanted')
  if (kind === 'spaces') return refuse('a space holds a program, not a model')
  if (path.split('/').includes('..')) return refuse('a path with ".."')
  return { kind: kind === 'datasets' ? kind : 'models', repository, revision: decodePercent(revision ?? 'main'), path }
}

/** `/owner/repo`, `/owner/repo/tree/revision/folder`, `/owner/repo/blob/revision/file`. */
function parsePage(pathname: string): HubAddress | undefined {
  const parts = pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodePercent)
  const kind = parts[0] === 'datasets' ? 'datasets' : 'models'
  if (kind === 'datasets') parts.shift()
  const [owner, name, view, ...rest] = parts
  if (owner === undefined || name === undefined || pages.has(owner)) return undefined
  if (view !== undefined && !/^(tree|blob|resolve)$/.test(view)) return undefined
  const depth = rest[0] === 'refs' ? 3 : 1
  const revision = rest.slice(0, depth).join('/') || 'main'
  return { kind, repository: `${owner}/${name}`, revision, path: rest.slice(depth).join('/') }
}

export const nameOfHubFile = ({ kind, repository, revision }: Omit<HubAddress, 'path'>, path: string): string =>
  `hf://${kind === 'datasets' ? 'datasets/' : ''}${repository}@${revision}/${path}`
