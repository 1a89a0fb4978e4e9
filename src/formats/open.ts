// Opening a model: which format it is, what its index says, and what its checksums say about its bytes.
import { type ByteSource, decodeLossy, type ExtentRecorder, withHead } from '../bytes/index.js'
import { withCompanions } from '../content/companions.js'
import {
  type Code,
  callerWord,
  collectingReport,
  didYouMean,
  type Finding,
  failWith,
  openCodes,
  placeOf,
  type Report,
  strictReport,
  TareError,
  verifyCodes,
} from '../errors/index.js'
import { Damage } from '../model/damage.js'
import {
  type DamageFinder,
  type DamageOptions,
  defaultLimits,
  type Format,
  type Limits,
  type Model,
  type Opened,
  type ReadContext,
  totalSize,
} from '../model/index.js'
import { describeForeign, foreignKind } from './foreign.js'
import { formats } from './list.js'

export interface OpenOptions {
  /** The format's id, when the bytes should not decide. */
  readonly from?: string | undefined
  readonly lenient?: boolean | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly signal?: AbortSignal | undefined
  /** Opens files that an index places at other addresses; without it they are refused. */
  readonly openElsewhere?: ReadContext['openElsewhere']
  /** Only these tensors will be read: files of a set that hold none of them may be left out of the model. */
  readonly wanted?: ReadonlySet<string> | undefined
  /**
   * Every read is a request, and few tensors will be read: what only repeats the index is compared with it when a tensor is read. Formats
   * with many headers then take few requests.
   */
  readonly isSparing?: boolean | undefined
  /** Told about warnings and notes; errors are thrown. */
  readonly onFinding?: ((finding: Finding) => void) | undefined
}

export interface ReadRequest extends OpenOptions {
  readonly report: Report
  readonly extents?: ExtentRecorder | undefined
  readonly onLost?: ReadContext['onLost']
}

/** A recognised input, before its index is read. */
export interface Recognised {
  readonly format: Format
  readonly context: ReadContext
  read(): Promise<Opened>
}

/** Finds out what the source is. The first bytes are fetched once, for detection and for reading. */
export async function recognise(source: ByteSource, request: ReadRequest): Promise<Recognised> {
  const { report, extents, signal, from, openElsewhere, wanted, isSparing, onLost } = request
  const head = await source.read(0, Math.min(source.size, headSize), { signal })
  const format = from === undefined ? detectFormat(source, head, report) : requireFormat(from)
  const limits = { ...defaultLimits, ...request.limits }
  const lenient = request.lenient ?? false
  const context: ReadContext = { report, extents, signal, limits, lenient, openElsewhere, wanted, isSparing, onLost }
  const read = async (): Promise<Opened> => {
    const implementation = await format.load()
    const opened = await implementation.read(withHead(source, head), context)
    const finder = damageFinder(format, opened, context)
    const model = needsCompanions(format, opened.model, source, wanted)
      ? await withCompanions(opened.model, source, context)
      : opened.model
    return { ...opened, model: finder ? { ...model, damageFinders: [finder] } : model }
  }
  return { format, context, read }
}

/** Companions belong to a model whose directory was opened. Tensors that are read by their names need none. */
const needsCompanions = (
  { capabilities }: Format,
  { tensors }: Model,
  { folder }: ByteSource,
  wanted: ReadContext['wanted'],
): boolean =>
  capabilities.companions === true &&
  folder?.isWhole === true &&
  !(wanted && tensors.some(({ name }) => wanted.has(name)))

/** Opens a model: strictly, reading its index only. The model keeps the source open; `closeModel` closes it. */
export async function openModel(source: ByteSource, options: OpenOptions = {}): Promise<Model> {
  const report = strictReport(source.name, options.onFinding)
  const recognised = await recognise(source, { ...options, report })
  const { model } = await recognised.read()
  return model
}

/** How many bytes formats may look at to recognise a file. One request over a network brings this much anyway. */
export const headSize = 65_536

export const formatById = (id: string): Format | undefined => formats.find((format) => format.id === id)

/** The format that a name stands for: one that models are published under, or else by the longest extension that fits. */
export function formatForOutput(name: string): Format | undefined {
  const published = formats.find((format) => format.published?.includes(name))
  if (published) return published
  const lower = name.toLowerCase()
  let best: { format: Format; length: number } | undefined
  for (const format of formats) {
    for (const extension of format.extensions) {
      if (lower.endsWith(extension) && extension.length > (best?.length ?? 0))
        best = { format, length: extension.length }
    }
  }
  return best?.format
}

export function requireFormat(id: string): Format {
  const format = formatById(id)
  if (format) return format
  const known = formats.map((each) => each.id)
  const message = `there is no format "${id}"; known are ${known.join(', ')}${didYouMean(id, known)}`
  return failWith(openCodes['unknown-format-id'], { file: id, message })
}

/** Content decides; the name helps only where the content leaves it open, and never against it. */
export function detectFormat({ name, size }: ByteSource, head: Uint8Array, report: Report): Format {
  const answers = formats.map((format) => ({ format, answer: format.detect(head, name, size) }))
  const found = answers.find(({ answer }) => answer === 'yes')
  if (found) return found.format
  const wrong = commonMistake(head)
  if (wrong) report.fail(wrong.code, { offset: 0, path: 'file', message: pageHint(wrong.code, name) ?? wrong.message })
  const likely = answers.filter(({ answer }) => answer === 'maybe').map(({ format }) => format)
  const foreign = foreignKind(head, name, size, likely.length > 0)
  if (foreign) report.fail(openCodes['foreign-format'], { offset: 0, path: 'file', message: describeForeign(foreign) })
  // Of several, one that would say so whatever the file is called.
  const best = likely.find((format) => format.detect(head, '', size) === 'maybe') ?? likely[0]
  if (best) return best
  return report.fail(openCodes['unknown-format'], {
    offset: 0,
    path: 'file',
    message: `no format recognises these bytes; if you know the format, name it with ${callerWord('--from', 'from')}`,
  })
}

/** The wrong contents that most often hide under a model's name. */
function commonMistake(head: Uint8Array): { readonly code: Code; readonly message: string } | undefined {
  if (head.byteLength === 0) return { code: openCodes.empty, message: 'the file is empty' }
  const text = decodeLossy(head.subarray(0, 256)).trimStart().toLowerCase()
  if (text.startsWith('version https://git-lfs')) {
    const message = 'this is a Git LFS pointer, not the file it stands for; `git lfs pull` fetches that'
    return { code: openCodes['git-lfs-pointer'], message }
  }
  if (text.startsWith('<!doctype html') || text.startsWith('<html')) {
    const message = 'this is an HTML page, most likely an error page saved in place of the model; download it again'
    return { code: openCodes.html, message }
  }
  return undefined
}

/** Where the file itself is, if the address is that of the page about it on a hub. */
function pageHint(mistake: Code, name: string): string | undefined {
  const address =
    mistake === openCodes.html && /^https?:\/\//i.test(name) && URL.canParse(name) ? new URL(name) : undefined
  const parts = address?.pathname.split('/')
  const at = parts?.indexOf('blob') ?? -1
  if (!address || !parts) return undefined
  if (at < 1) {
    const isFolder = address.pathname.endsWith('/')
    return isFolder
      ? undefined
      : 'this is an HTML page, most likely an error page in place of the model; the address of a folder ends with a slash'
  }
  // Elsewhere than on GitHub, hubs for models have files under `resolve`.
  parts[at] = /(^|\.)github\.com$/.test(address.hostname) ? 'raw' : 'resolve'
  address.pathname = parts.join('/')
  return `this is the page about the file; the file itself is at ${address.href}`
}

// Damage must not travel: a copy of damaged weights would get fresh checksums, and the damage could no longer be found. So everything that hands
// weights on first compares the checksums that the file has for them. Formats without checksums have nothing to compare.

/** What is damaged, as far as the checksums of the model's files tell. */
export async function findDamage(model: Model, options: DamageOptions = {}): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const find of model.damageFinders ?? []) for (const each of await find(options)) found.push(each)
  return found
}

/** Throws `verify/damaged` when there is any, for the first place and with the tensors that it concerns. */
export function refuseDamage(damage: readonly Finding[], { tensors }: Pick<Model, 'tensors'>): void {
  const [first, ...more] = damage
  if (!first) return
  const places = new Damage(damage)
  const hurt = tensors.filter((tensor) => places.concerning(tensor).length > 0).map(({ name }) => JSON.stringify(name))
  const named = hurt.length === 0 ? 'the file' : `${hurt.slice(0, maxNamed).join(', ')}${moreThan(hurt.length)}`
  const others = more.length === 0 ? '' : ` (and ${more.length} more findings)`
  const message = `${named} ${hurt.length > 1 ? 'are' : 'is'} damaged: ${first.message} (${first.code})${others}; ${callerWord('`tare repair`', 'repair()')} saves the intact tensors, ${callerWord('--allow-damage', 'onDamage')} continues anyway`
  failWith(verifyCodes.damaged, { ...placeOf(first), message })
}

const maxNamed = 3
const moreThan = (count: number): string => (count > maxNamed ? ` and ${count - maxNamed} more tensors` : '')

/** Undefined for a format without checksums. */
function damageFinder(format: Format, { model, check }: Opened, context: ReadContext): DamageFinder | undefined {
  if (format.capabilities.checksums === 'none' || !check) return undefined
  return async ({ only, signal, pool, onProgress }) => {
    const findings: Finding[] = []
    const report = collectingReport(context.report.file, findings)
    const total = totalSize(model)
    let done = 0
    const checked = (bytes: number): void => {
      done += bytes
      onProgress?.({ done, total, path: context.report.file })
    }
    try {
      await check({
        ...context,
        report,
        extents: undefined,
        signal,
        extra: {},
        pool,
        only,
        checked,
      })
    } catch (error) {
      // The check itself could not go on, and has reported why; anything else is not about the file's content.
      if (!(error instanceof TareError) || !findings.includes(error.finding)) throw error
    }
    return findings.filter(({ severity }) => severity === 'error')
  }
}
