// The settings of a model, the filters of a whisper model, and the vocabulary. Nothing says whose settings they are: each header that the
// container can have is tried, and the first counts that leads to a tensor or to the end of the file.
import { type Cursor, checkedMultiply, type WindowReader } from '../../bytes/index.js'
import { type Report, strictReport, TareError } from '../../errors/index.js'
import { codes } from './codes.js'
import type { Container, Header } from './containers.js'
import { nameAt } from './tensor-head.js'
import { readTokens, type Tokens } from './tokens.js'
import { cursorAt } from './window.js'

export interface Filters {
  readonly offset: number
  readonly shape: readonly [number, number]
}

export interface ReadHeader {
  readonly header: Header
  readonly settings: ReadonlyMap<string, number>
  readonly filters?: Filters
  readonly tokens?: Tokens
  /** Where the first tensor begins. */
  readonly end: number
}

type ExtentsOption = { readonly extents?: Cursor['extents'] }

/** The header that fits. Where none does, the one that went furthest: reading it tells what is wrong. */
export async function findHeader(
  window: WindowReader,
  start: number,
  { headers }: Container,
  report: Report,
): Promise<{ readonly header: Header; readonly isCertain: boolean }> {
  let furthest: { readonly header: Header; readonly offset: number } | undefined
  for (const header of headers) {
    try {
      const { end } = await readHeader(window, start, header, strictReport(report.file), {})
      const name = await nameAt(window, end)
      if (name !== undefined && (name === '' || header.firstName?.test(name) !== false))
        return { header, isCertain: true }
      if (end > (furthest?.offset ?? -1)) furthest = { header, offset: end }
    } catch (error) {
      if (!(error instanceof TareError)) throw error
      const { offset = 0 } = error.finding
      if (offset > (furthest?.offset ?? -1)) furthest = { header, offset }
    }
  }
  return { header: furthest!.header, isCertain: false }
}

export async function readHeader(
  window: WindowReader,
  start: number,
  header: Header,
  report: Report,
  { extents }: ExtentsOption,
): Promise<ReadHeader> {
  const cursor = await cursorAt(window, start, 4 * header.settings.length, report, { extents, path: ['settings'] })
  const settings = new Map<string, number>()
  for (const name of header.settings) {
    const offset = cursor.offset
    const isFloat = header.floats?.includes(name)
    const value = isFloat ? cursor.f32(name) : cursor.i32(name)
    if (!isFloat && !isPossible(name, value)) {
      report.fail(codes.header, { offset, length: 4, path: cursor.pathOf(name), message: `${name} is ${value}` })
    }
    settings.set(name, value)
  }
  checkHeads(settings, start, header, report)
  let end = cursor.offset
  const filters = header.filters ? await readFilters(window, end, report, extents) : undefined
  if (filters) end = filters.offset + 4 * filters.shape[0] * filters.shape[1]
  if (!header.tokens) return { header, settings, end }
  const stated = header.tokens === 'stated' ? settings.get('n_vocab')! : undefined
  const tokens = await readTokens(window, end, { stated, hasScores: header.scores === true }, report, extents)
  if (header.isCountRepeated && tokens.texts.length !== settings.get('n_vocab')) {
    const message = `${tokens.texts.length} tokens, ${settings.get('n_vocab')} were stated before`
    report.fail(codes.vocabulary, { offset: end, length: 4, path: 'vocabulary.count', message })
  }
  return { header, settings, ...(filters && { filters }), tokens, end: tokens.end }
}

const maxCount = 1 << 24
const maxFileType = 3000

/** Counts are positive; some settings can be 0. */
function isPossible(name: string, value: number): boolean {
  if (name === 'ftype') return value >= 0 && value < maxFileType && value % 1000 < 64
  if (name === 'par_res') return value === 0 || value === 1
  const min = name === 'n_rot' || name === 'n_mult' || name === 'alpha' ? 0 : 1
  return value >= min && value <= maxCount
}

/** Heads share the vector of a token equally. */
function checkHeads(settings: ReadonlyMap<string, number>, start: number, header: Header, report: Report): void {
  const pairs = [
    ['n_embd', 'n_head'],
    ['d_model', 'n_heads'],
    ['n_audio_state', 'n_audio_head'],
    ['n_text_state', 'n_text_head'],
  ] as const
  for (const [size, heads] of pairs) {
    const [all, parts] = [settings.get(size), settings.get(heads)]
    if (all === undefined || parts === undefined || all % parts === 0) continue
    const offset = start + 4 * header.settings.indexOf(heads)
    const message = `${all} numbers cannot be shared among ${parts} heads`
    report.fail(codes.header, { offset, length: 4, path: `settings.${heads}`, message })
  }
}

async function readFilters(
  window: WindowReader,
  start: number,
  report: Report,
  extents: Cursor['extents'],
): Promise<Filters> {
  const cursor = await cursorAt(window, start, 8, report, { extents, path: ['filters'] })
  const shape = [cursor.i32('n_mel'), cursor.i32('n_fft')] as const
  const offset = cursor.offset
  const left = window.source.size - offset
  const isPositive = shape[0] > 0 && shape[1] > 0
  const length = isPositive ? checkedMultiply(4 * shape[0], shape[1]) : undefined
  if (length === undefined || length > left) {
    const message = `${shape[0]} filters of ${shape[1]} values, ${left} bytes are left`
    report.fail(codes.header, { offset: start, length: 8, path: 'filters', message })
  }
  extents?.add({ file: report.file, offset, length, path: 'data["mel_filters"]', kind: 'data' })
  return { offset, shape }
}
