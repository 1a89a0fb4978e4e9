// Saving what is whole. The file is read as `verify` reads it, going on behind everything that is wrong; tensors whose bytes are all there,
// and have the checksum that the format keeps for them, are written into a new file. Everything else is listed.
import type { ByteSource } from '../bytes/index.js'
import { collectingReport, type Finding, failWith, TareError, writeCodes } from '../errors/index.js'
import { formatForOutput, type OpenOptions, type Recognised, recognise } from '../formats/index.js'
import type { Format, Lost, Model, Payload, Tensor, WriteOptions } from '../model/index.js'
import { type Conversion, planConversion } from './plan.js'

export interface Salvage {
  readonly conversion: Conversion
  readonly format: string
  readonly kept: number
  readonly lost: readonly Lost[]
  readonly findings: readonly Finding[]
}

/** Throws `write/nothing-to-repair` when nothing is wrong, or nothing is whole. */
export async function planSalvage(source: ByteSource, options: WriteOptions & OpenOptions): Promise<Salvage> {
  const findings: Finding[] = []
  const lost: Lost[] = []
  const report = collectingReport(source.name, findings)
  const recognised = await recognise(source, { ...options, report, onLost: (what) => lost.push(what) })
  const { format } = recognised
  const nothing = (message: string): never => failWith(writeCodes['nothing-to-repair'], { file: source.name, message })
  const model = await readWhole(recognised, options, nothing)
  const isCut = lost.length > 0
  const damaged = (await findDamaged(recognised, model, findings, options)).filter(
    (each) => !isCut || !reachesEnd(each, model),
  )
  const errors = findings.filter(({ severity }) => severity === 'error')
  // Views of one storage may share bytes as they like; only where the format calls it an error, something was overwritten.
  const overlapping = errors.some(({ code }) => code.endsWith('overlap'))
    ? findOverlaps(model.tensors)
    : new Set<Tensor>()
  const tensors = chooseTensors(model, damaged, overlapping, lost)
  // A format with a repair of its own has declined; that only the stated size is wrong means that padding was cut off.
  const isShort = errors.every(({ code }) => code.endsWith('file-size'))
  const isWrong = errors.length > 0 && (!format.repair || isShort)
  if (!isCut && damaged.length === 0 && !isWrong) return nothing('nothing here is damaged in a way that can be mended')
  if (tensors.every(({ data }) => !data)) return nothing(describeNothing(lost, errors))
  const parts = model.parts.filter(({ kind, name, data }) => {
    const isWhole = !data || isInside(data)
    if (!isWhole) lost.push({ subject: 'part', name: name ?? kind, length: data.byteLength, reason: outside })
    return isWhole
  })
  const target = targetFor(format, options.name)
  const { name, deterministic, shardSize, align, extra, signal } = options
  // Formats that keep what they can as it is stored know their tensors by identity; nothing of this file is to be kept that way.
  const fresh = tensors.map((tensor) => ({ ...tensor }))
  const conversion = await planConversion({ ...model, tensors: fresh, parts }, target, {
    ...{ name, deterministic, shardSize, align, extra, signal },
    keepOrientation: true,
  })
  for (const { subject, name: what, loss, reason, requested } of conversion.plan.actions) {
    if (requested || (loss !== 'content' && loss !== 'precision')) continue
    const why = reason ?? 'the output has no place for it'
    lost.push({ subject, name: what, reason: loss === 'precision' ? `not lost, but rounded: ${why}` : why })
  }
  return { conversion, format: target, kept: tensors.length, lost, findings }
}

const outside = 'its bytes are not all in the file'

async function readWhole(
  { format, read }: Recognised,
  { signal }: OpenOptions,
  nothing: (message: string) => never,
): Promise<Model> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof TareError) || signal?.aborted) throw error
    const { message } = error.finding
    return nothing(`without its index no tensor of this ${format.title} file can be found: ${message}`)
  }
}

/** Places that fail the format's own checks of the payloads. */
async function findDamaged(
  { format, context }: Recognised,
  model: Model,
  findings: Finding[],
  { signal }: OpenOptions,
): Promise<readonly Finding[]> {
  // Without checksums a check only looks for odd values, which is no reason to leave a tensor behind.
  if (format.capabilities.checksums === 'none') return []
  const found: Finding[] = []
  const report = collectingReport(context.report.file, found)
  try {
    await format.check?.(model, { ...context, report, extra: {}, checked() {} })
  } catch (error) {
    if (!(error instanceof TareError) || signal?.aborted) throw error
  }
  findings.push(...found)
  return found.filter(({ severity }) => severity === 'error')
}

function chooseTensors(
  model: Model,
  damaged: readonly Finding[],
  overlapping: ReadonlySet<Tensor>,
  lost: Lost[],
): Tensor[] {
  const names = new Set<string>()
  return model.tensors.filter((tensor) => {
    const { name, data } = tensor
    const reason = overlapping.has(tensor)
      ? 'it shares some of its bytes with another'
      : reasonAgainst(tensor, names, damaged)
    if (reason !== undefined) lost.push({ subject: 'tensor', name, length: data?.byteLength, reason })
    else names.add(name)
    return reason === undefined
  })
}

function reasonAgainst({ name, data }: Tensor, names: ReadonlySet<string>, damaged: readonly Finding[]) {
  if (names.has(name)) return 'another tensor before it has the same name'
  if (!data) return undefined
  if (!isInside(data)) return outside
  return damaged.find((finding) => concerns(finding, name, data))?.message
}

/** Tensors that share some of their bytes, but not all: at most one of them is what was written. */
function findOverlaps(tensors: readonly Tensor[]): Set<Tensor> {
  const placed = tensors.flatMap((tensor) => {
    const origin = tensor.data?.origin
    return origin && origin.length > 0 ? [{ tensor, ...origin }] : []
  })
  placed.sort((a, b) => a.offset - b.offset || b.length - a.length)
  const overlapping = new Set<Tensor>()
  let widest = placed[0]
  for (const each of placed.slice(1)) {
    const isOther = each.source !== widest!.source || each.offset >= widest!.offset + widest!.length
    const isSame = each.offset === widest!.offset && each.length === widest!.length
    if (!isOther && !isSame) overlapping.add(each.tensor).add(widest!.tensor)
    if (each.offset + each.length > widest!.offset + widest!.length || each.source !== widest!.source) widest = each
  }
  return overlapping
}

/** Of a range that reaches to the end of a file that was cut, a wrong checksum only says that the file was cut. */
const reachesEnd = ({ file, offset, length }: Finding, { files }: Model): boolean =>
  offset !== undefined &&
  length !== undefined &&
  files.some(({ name, size }) => name === file && offset + length >= size)

const isInside = ({ origin }: Payload): boolean =>
  !origin || (origin.offset >= 0 && origin.offset + origin.length <= origin.source.size)

/** Whether a finding is about these bytes; for payloads that are made on the fly, whether it is about something of that name. */
function concerns({ file, offset, length, path }: Finding, name: string, { origin }: Payload): boolean {
  if (!origin) {
    const quoted = JSON.stringify(name).slice(0, -1)
    return path !== undefined && (path.includes(`${quoted}"`) || path.includes(`${quoted}.`))
  }
  if (file !== origin.source.name || offset === undefined || origin.length === 0) return false
  return offset < origin.offset + origin.length && offset + Math.max(length ?? 1, 1) > origin.offset
}

/** The same format, or where that cannot be written, the one that the name of the output stands for. */
function targetFor(format: Format, name: string): string {
  if (format.layout) return format.id
  const other = formatForOutput(name)
  if (other?.layout) return other.id
  const message = `${format.title} cannot be written; give the output a name that stands for another format`
  return failWith(writeCodes['not-writable'], { file: name, message })
}

function describeNothing(lost: readonly Lost[], errors: readonly Finding[]): string {
  const first = lost[0]?.reason ?? errors[0]?.message
  const why = first === undefined ? '' : `: ${first}`
  return lost.length === 0 ? `no tensor is left in it${why}` : `none of its tensors is whole${why}`
}

/** A line for people: what, how much of it, and why. */
export function describeLost({ subject, name, length, reason }: Lost): string {
  const what = subject === 'tensor' ? '' : `${subject} `
  const size = length === undefined ? '' : ` (${length} bytes)`
  return name === undefined ? reason : `${what}${JSON.stringify(name)}${size}: ${reason}`
}
