// Saving what is whole. The file is read as `verify` reads it, going on behind everything that is wrong; tensors whose bytes are all there,
// and have the checksum that the format keeps for them, are written into a new file. Everything else is listed.
import { type ByteSource, defaultWindow, inOrder, isSameRange, overlaps, type Range } from '../../bytes/index.js'
import { WorkBudget } from '../../digest/hasher.js'
import { collectingReport, type Finding, failWith, maxFindings, TareError, writeCodes } from '../../errors/index.js'
import { formatForOutput, type OpenOptions, type Recognised, recognise } from '../../formats/index.js'
import { saysCut } from '../../formats/read-cut.js'
import { Damage } from '../../model/damage.js'
import {
  type Format,
  isWritable,
  type Lost,
  type Model,
  type Opened,
  type Payload,
  type ReadProof,
  type Tensor,
  totalSize,
  type VerifiedPayload,
  type WriteOptions,
} from '../../model/index.js'
import { type Conversion, planConversion } from '../plan.js'

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
  const told = new Set<string>()
  const onLost = (what: Lost): void => {
    // A set and its files tell about the same tensor; the file knows better and comes first.
    const key = what.name === undefined ? undefined : `${what.subject} ${what.name}`
    if (key !== undefined && told.has(key)) return
    if (key !== undefined) told.add(key)
    lost.push(what)
  }
  const report = collectingReport(source.name, findings)
  const recognised = await recognise(source, { ...options, report, onLost })
  const { format } = recognised
  const nothing = (message: string): never => failWith(writeCodes['nothing-to-repair'], { file: source.name, message })
  const opened = await readWhole(recognised, options, nothing)
  const { model } = opened
  const { repair, verifiedPayload } = await format.load()
  const isCut = lost.length > 0
  const cutFiles = new Set(findings.flatMap(({ severity, file }) => (severity === 'error' ? [file] : [])))
  const isExpected = (each: Finding): boolean => isCut && cutFiles.has(each.file) && reachesEnd(each, model)
  const damage = new Damage(
    (await findDamaged(recognised, opened, findings, options)).filter((each) => !isExpected(each)),
  )
  const errors = findings.filter(({ severity }) => severity === 'error')
  // Views of one storage may share bytes as they like; only where the format calls it an error, something was overwritten.
  const overlapping = errors.some(({ code }) => code.endsWith('overlap'))
    ? findOverlaps(model.tensors)
    : new Set<Tensor>()
  const tensors = await chooseTensors(model, { damage, overlapping, verifiedPayload, signal: options.signal }, lost)
  // A format with a repair of its own has declined; that only the stated size is wrong means that padding was cut off.
  const isShort = errors.every(({ code }) => code.endsWith('file-size'))
  const isWrong = errors.length > 0 && (!repair || isShort)
  if (!isCut && damage.count === 0 && !isWrong) {
    const isEmpty = model.tensors.length === 0 && errors.some(saysCut)
    return nothing(
      isEmpty ? 'the file ends before its tensors' : 'nothing here is damaged in a way that can be repaired',
    )
  }
  if (tensors.every(({ data }) => !data)) return nothing(describeNothing(lost, errors))
  const anyDamage = new Damage(errors)
  const parts = model.parts.filter(({ kind, name = kind, data }) => {
    if (!data?.origin) return true
    // Its bytes would be wrong in the new file as well, or have a new checksum that hides it.
    const isAgainst = (each: Finding): boolean => !isExpected(each) || isWithin(each, data)
    const reason = isInside(data) ? anyDamage.concerning({ name, data }).find(isAgainst)?.message : outside
    if (reason !== undefined) lost.push({ subject: 'part', name, length: data.byteLength, reason })
    return reason === undefined
  })
  const target = targetFor(format, options.name)
  const { name, deterministic, shardSize, align, extra, signal } = options
  const conversion = await planConversion({ ...model, tensors, parts }, target, {
    ...{ name, deterministic, shardSize, align, extra, signal },
    rewrite: true,
    keepOrientation: true,
  })
  for (const { subject, name: what, loss, reason, requested } of conversion.plan.actions) {
    if (requested || (loss !== 'content' && loss !== 'precision')) continue
    const why = reason ?? 'the output cannot store it'
    lost.push({ subject, name: what, reason: loss === 'precision' ? `not lost, but rounded: ${why}` : why })
  }
  return { conversion, format: target, kept: conversion.model.tensors.length, lost, findings }
}

const outside = 'its bytes are not all in the file'

async function readWhole(
  { format, read }: Recognised,
  { signal }: OpenOptions,
  nothing: (message: string) => never,
): Promise<Opened> {
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
  { model, check }: Opened,
  findings: Finding[],
  { signal }: OpenOptions,
): Promise<readonly Finding[]> {
  // Without checksums a check only looks for odd values, which is no reason to leave a tensor behind.
  if (format.capabilities.checksums === 'none') return []
  const found: Finding[] = []
  // Every tensor may have something wrong with it, and none of that may be left out.
  const report = collectingReport(context.report.file, found, 4 * model.tensors.length + maxFindings)
  try {
    await check?.({ ...context, report, extra: {}, checked() {} })
  } catch (error) {
    if (!(error instanceof TareError) || signal?.aborted) throw error
  }
  for (const finding of found) findings.push(finding) // more of them than a call takes arguments
  return found.filter(({ severity }) => severity === 'error')
}

interface Doubts {
  /** Places that fail a check. */
  readonly damage: Damage
  readonly overlapping: ReadonlySet<Tensor>
  readonly verifiedPayload: VerifiedPayload | undefined
  readonly signal: AbortSignal | undefined
}

async function chooseTensors(model: Model, doubts: Doubts, lost: Lost[]): Promise<Tensor[]> {
  const names = new Set<string>()
  const chosen: Tensor[] = []
  const budget = new WorkBudget({ size: totalSize(model) })
  // Tensors that share all of their bytes are stored one by one, so that a small file could become an endless one.
  const room = new WorkBudget({ size: totalSize(model) })
  for (const tensor of model.tensors) {
    const { name, data } = tensor
    const unfit = doubts.overlapping.has(tensor)
      ? 'it shares some of its bytes with another'
      : names.has(name)
        ? 'another tensor before it has the same name'
        : await reasonAgainst(tensor, model, doubts, budget)
    const isTooMuch = unfit === undefined && data?.origin !== undefined && !room.affords(data.byteLength)
    const reason = isTooMuch ? 'tensors share bytes so often that the output would be many times the file' : unfit
    if (reason !== undefined) lost.push({ subject: 'tensor', name, length: data?.byteLength, reason })
    else {
      names.add(name)
      chosen.push(tensor)
    }
  }
  return chosen
}

async function reasonAgainst(
  tensor: Tensor,
  model: Model,
  { damage, verifiedPayload, signal }: Doubts,
  budget: WorkBudget,
): Promise<string | undefined> {
  const { data } = tensor
  if (!data) return undefined
  if (!isInside(data)) return outside
  const doubts = damage.concerning(tensor)
  const own = doubts.find((finding) => isWithin(finding, data))
  const [wide] = doubts
  if (own || !wide || !verifiedPayload) return (own ?? wide)?.message
  // Something around the tensor is damaged. It may have a hash of its own that says that it is not.
  if (!budget.affords(data.byteLength))
    return `${wide.message}; tensors share bytes so often that not all of them were compared`
  return (await isProven(verifiedPayload, model, tensor, signal)) ? undefined : wide.message
}

/** Whether a finding is about bytes of this payload and of no other. */
function isWithin({ offset, length }: Finding, { origin }: Payload): boolean {
  if (!origin || offset === undefined) return true
  return offset >= origin.offset && offset + (length ?? 1) <= origin.offset + origin.length
}

async function isProven(
  verified: VerifiedPayload,
  model: Model,
  tensor: Tensor,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  // The hash of the tensor alone first; without one, those of the pages that it lies in.
  for (const options of [{ wholeTensorLimit: 0 }, {}]) {
    const proof: ReadProof = { against: [], pages: 0, pageBytes: 0, tensorBytes: 0, unprovenBytes: 0 }
    try {
      for await (const bytes of verified(model, tensor, options, proof)?.chunks(defaultWindow, signal) ?? [])
        if (proof.unprovenBytes > 0 && bytes.byteLength > 0) break
    } catch (error) {
      if (!(error instanceof TareError) || signal?.aborted) throw error
      return false
    }
    if (proof.unprovenBytes === 0 && proof.tensorBytes + proof.pageBytes > 0) return true
  }
  return false
}

/** Tensors that share some of their bytes, but not all: at most one of them is what was written. */
function findOverlaps(tensors: readonly Tensor[]): Set<Tensor> {
  const bySource = new Map<ByteSource, (Range & { readonly tensor: Tensor })[]>()
  for (const tensor of tensors) {
    if (!tensor.data?.origin) continue
    const { source, offset, length } = tensor.data.origin
    const ranges = bySource.get(source) ?? []
    bySource.set(source, ranges)
    ranges.push({ start: offset, end: offset + length, tensor })
  }
  const overlapping = new Set<Tensor>()
  for (const ranges of bySource.values()) {
    for (const [before, range] of overlaps(inOrder(ranges)))
      if (!isSameRange(before, range)) overlapping.add(before.tensor).add(range.tensor)
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

/** The same format, or where that cannot be written, the one that the name of the output stands for. */
function targetFor(format: Format, name: string): string {
  if (isWritable(format)) return format.id
  const other = formatForOutput(name)
  if (other && isWritable(other)) return other.id
  const message = `${format.title} cannot be written; give the output the extension of another format`
  return failWith(writeCodes['not-writable'], { file: name, message })
}

function describeNothing(lost: readonly Lost[], errors: readonly Finding[]): string {
  const first = lost[0]?.reason ?? errors[0]?.message
  const why = first === undefined ? '' : `: ${first}`
  return lost.length === 0 ? `no tensor is left in it${why}` : `none of its tensors is complete${why}`
}

/** A line for people: what, how much of it, and why. */
export function describeLost({ subject, name, length, reason }: Lost): string {
  const what = subject === 'tensor' ? '' : `${subject} `
  const size = length === undefined ? '' : ` (${length} bytes)`
  return name === undefined ? reason : `${what}${JSON.stringify(name)}${size}: ${reason}`
}
