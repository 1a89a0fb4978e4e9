// Model files of ggml before GGUF:
//
//   magic: ggml | ggmf, version | ggjt, version | ggla, version
//   settings of the model, 32 bits each, without names or a count
//   in whisper models: a table of filters
//   vocabulary: per token the length, the bytes, and in all but the oldest files a score
//   tensors up to the end: dimensions, length of the name, type, shape, name | in ggjt and ggla filled up to 32 bytes | data
import { type ByteSource, Cursor, WindowReader } from '../../bytes/index.js'
import { f32 } from '../../dtypes/index.js'
import { type MetaValue, type Opened, type ReadContext, rangePayload, type Tensor, text } from '../../model/index.js'
import { codes } from './codes.js'
import { type Container, containerOf, containers } from './containers.js'
import { findTensors } from './find-tensors.js'
import { findHeader, type ReadHeader, readHeader } from './header.js'
import { readTensors } from './tensors.js'

interface Start {
  readonly container: Container
  readonly version?: number
  readonly end: number
}

/** File types count the version of the quantized types in thousands, where the container has no version that tells. */
const versionFactor = 1000
/** The version of the quantized types today. */
const currentTypes = 2

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const start = await readStart(source, context)
  const { container, version } = start
  const head = await readHead(source, start, context)
  const fileType = head.settings.get('ftype') ?? 0
  const typeVersion =
    container.name === 'ggjt'
      ? version! - 1
      : container.name === 'ggla' || !head.header
        ? currentTypes
        : Math.floor(fileType / versionFactor)
  const tensors = await readTensors(source, { start: head.end, alignment: container.alignment, typeVersion }, context)
  checkNames(head, tensors, source.size, context)
  return {
    model: {
      format: 'ggjt',
      ...(version !== undefined && { version: String(version) }),
      variant: container.name,
      metadata: metadataOf(head, container),
      tensors: [...filtersOf(source, head), ...tensors],
      parts: [],
      files: [source],
    },
  }
}

async function readStart(source: ByteSource, { report, extents, signal }: ReadContext): Promise<Start> {
  const bytes = await source.read(0, Math.min(8, source.size), { signal })
  const cursor = new Cursor(bytes, report, { extents, path: ['header'] })
  const magic = cursor.raw(4, 'magic', (each) => String.fromCharCode(...each.toReversed()))
  const container = containerOf(magic)
  if (!container) {
    const message = `one of ${containers.map(({ name }) => name).join(', ')} was expected, each backwards`
    return report.fail(codes.magic, { offset: 0, length: 4, path: 'header.magic', message })
  }
  if (!container.versions) return { container, end: 4 }
  const version = cursor.u32('version')
  if (!container.versions.includes(version)) {
    const message = `${container.name} has no version ${version}`
    report.fail(codes.version, { offset: 4, length: 4, path: 'header.version', message })
  }
  return { container, version, end: 8 }
}

/** What stands before the tensors; of a header that is not known only where it ends. */
type Head = Partial<Omit<ReadHeader, 'settings' | 'end'>> & Pick<ReadHeader, 'settings' | 'end'>

async function readHead(source: ByteSource, { container, end: start }: Start, context: ReadContext): Promise<Head> {
  const { report, extents, signal, limits } = context
  const window = new WindowReader(source, { signal, keep: true, end: Math.min(source.size, start + limits.indexBytes) })
  const { header, isCertain } = await findHeader(window, start, container, report)
  if (!isCertain && container.headers.length > 1) {
    const end = await findTensors(window, new WindowReader(source, { signal }), start)
    if (end !== undefined) {
      const message = `the tensors begin behind ${end - start} bytes that were not read`
      report.report(codes['unknown-header'], { offset: start, length: end - start, path: 'settings', message })
      if (end > start)
        extents?.add({ file: report.file, offset: start, length: end - start, path: 'settings', kind: 'field' })
      return { settings: new Map(), end }
    }
  }
  return readHeader(window, start, header, report, { extents })
}

/** The programs of such models refuse a file without one of these. */
function checkNames(
  { header, settings }: Head,
  tensors: readonly Tensor[],
  size: number,
  { report }: ReadContext,
): void {
  const wanted = header?.tensors?.(settings) ?? []
  if (wanted.length === 0) {
    if (tensors.length > 0) return
    const message = 'the file ends where the first one should begin'
    report.report(codes['tensor-head'], { offset: size, length: 0, path: 'tensors[0]', message })
    return
  }
  const names = new Set(tensors.map(({ name }) => name))
  const missing = wanted.filter((name) => !names.has(name))
  if (missing.length === 0) return
  const message = `${missing.length} of ${wanted.length} are not there, the first is ${JSON.stringify(missing[0])}`
  report.report(codes['missing-tensors'], { offset: size, length: 0, path: 'tensors', message })
}

function metadataOf({ header, settings, tokens }: Head, { name }: Container): Map<string, MetaValue> {
  const metadata = new Map<string, MetaValue>()
  if (header?.architecture) metadata.set('architecture', text(header.architecture))
  else if (name === 'ggla') metadata.set('general.type', text('adapter'))
  for (const [key, value] of settings) {
    metadata.set(key, header?.floats?.includes(key) ? { type: 'f32', value } : { type: 'i32', value })
  }
  if (tokens) metadata.set('tokens', tokens.texts)
  if (tokens?.scores) metadata.set('scores', tokens.scores)
  return metadata
}

/** The filters are numbers like weights, and are named as in the program that they come from. */
function filtersOf(source: ByteSource, { filters }: Head): Tensor[] {
  if (!filters) return []
  const { offset, shape } = filters
  const data = rangePayload(source, offset, 4 * shape[0] * shape[1])
  return [{ name: 'mel_filters', dtype: f32, shape, order: 'row', role: 'weight', data }]
}
