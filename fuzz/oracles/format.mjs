// What must hold for any bytes at all that are opened as a format. A broken promise is thrown as a `Broken`, with the name of the promise.

import { toJsonLine } from '../../dist/cli/console/json.js'
import {
  formats,
  hashModel,
  inspectModel,
  MemorySource,
  mapSource,
  openModel,
  selector,
  statsOfTensors,
  verifySource,
} from '../../dist/kit.js'
import { depths, unhurried } from '../pace.mjs'
import { Broken, errorsOf, findingOf, guarded, outcomeOf } from './broken.mjs'
import { CountingSource } from './counting-source.mjs'
import { convertsWell, deltaIsExact, maxOutput, maxUnpacked, repairsWell } from './writing.mjs'

const writable = formats.filter(({ capabilities }) => capabilities.write)

/** Of a set only the index is opened, and of an AERO file no chunk that nobody asked for: those are parts, and read when they are wanted. */
const needsMoreThanOpening = ({ code, file }, { parts }) =>
  /^aeroset\/(sha256|size$|part-|tensor-not-in-part|index-disagrees)|^aero\/defect-zero-hash$/.test(code) ||
  /part-\d+\.aero$/.test(file) ||
  (/^aero\/chunk-(hash|zstd|zstd-trailing|ulen)$/.test(code) && parts.some(({ kind }) => kind === 'aero.chunk'))

/** Every promise about these bytes; the dear ones as `pace` says. Answers whether they were opened. */
export async function check({ bytes, name, siblings, base = bytes, made }, from, random, pace = unhurried) {
  const source = () => new MemorySource(bytes, name, siblings)
  const told = new Set()
  let model
  let refusal
  try {
    model = await openModel(source(), { from, onFinding: ({ code }) => told.add(code) })
  } catch (error) {
    refusal = findingOf('open', error)
  }
  const depth = pace.depthOf(...(model ? featuresOf(model, told) : [outcomeOf(refusal)]))
  if (model) {
    if (!isTold(/duplicate-name$/, told)) namesDiffer(model)
    if (!isTold(/overlap/, told)) bytesBelongToOne(model)
  }
  if (depth >= depths.verify) {
    if (model) await guarded('inspect', () => toJsonLine(inspectModel(model)))
    await verifiesAsOpened(source, from, model, told)
    await mapCovers(source, from)
  }
  if (!model && (depth >= depths.verify || random.once(16))) await lenientPromisesNothing(source, from)
  const isLarge = model && sizeOf(model) > maxOutput
  if (depth < depths.all) return model ? (isLarge ? 'large' : 'opened') : 'refused'
  const repaired = await repairsWell(source, from)
  if (repaired) made?.(repaired)
  if (!model) return 'refused'
  namesAreMatchedFast(model)
  if (isLarge) return 'large'
  await guarded('hash', () => hashModel(model, { algorithm: 'crc32', decoded: random.once(2) }))
  await guarded('stats', () => statsOfTensors(model.tensors, {}))
  await convertsWell(model, source, from, random.pick(writable))
  await deltaIsExact(model, new MemorySource(base, name, siblings))
  return 'opened'
}

const sizeOf = (model) => model.tensors.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0)

/** Models that differ in one of these take other ways through the code. One by one: their combinations are without number. */
function featuresOf({ variant = '', tensors, metadata, parts }, told) {
  const longest = tensors.reduce((max, { name }) => Math.max(max, name.length), 0)
  const features = new Set([`${variant} ${Math.min(3, tensors.length)}`, `names ${longest.toString(4).length}`])
  for (const { dtype, shape, data, quant, order, rawName } of tensors) {
    const zero = shape.includes(0) ? ' empty' : ''
    features.add(`${dtype.id ?? dtype} ${shape.length}${zero}${data === null ? ' without data' : ''}`)
    features.add(`${order}${quant ? ` quant ${dtype.id ?? dtype}` : ''}${rawName ? ' raw name' : ''}`)
  }
  for (const code of told) features.add(`told ${code}`)
  for (const { kind } of parts) features.add(`part ${kind}`)
  for (const entry of metadata.entries?.() ?? []) features.add(`entry ${typeof entry[1]}`)
  return features
}

/** What opens has no error that opening did not speak of; what is refused has one. */
async function verifiesAsOpened(source, from, model, told) {
  const counted = new CountingSource(source())
  const { findings } = await guarded('verify', () => verifySource(counted, { from, quick: true }))
  const errors = errorsOf(findings)
  for (const finding of errors) {
    if (finding.code === 'verify/internal') throw new Broken('verify fails only with findings', finding.message)
    if (finding.offset === undefined || finding.path === undefined)
      throw new Broken('every error has an offset and a path', `${finding.code}: ${finding.message}`)
  }
  const untold = model && errors.find((finding) => !told.has(finding.code) && !needsMoreThanOpening(finding, model))
  if (untold) throw new Broken('what opens has no errors', JSON.stringify(untold))
  if (!model && errors.length === 0) throw new Broken('what is refused has errors', 'verify found none')
  counted.checkWork('verify')
}

async function mapCovers(source, from) {
  const map = await guarded('map', () => mapSource(source(), { from }))
  let at = 0
  for (const { offset, length } of map?.files[0].extents ?? []) {
    if (offset !== at) throw new Broken('the map covers every byte once', `a row at ${offset}, after ${at}`)
    at += length
  }
  if (map && at !== source().size)
    throw new Broken('the map covers every byte once', `it ends at ${at} of ${source().size}`)
}

/** What is only opened leniently gives what is there. Weights that are not there are not promised. */
async function lenientPromisesNothing(source, from) {
  const model = await guarded('open leniently', () => openModel(source(), { from, lenient: true }))
  if (!model) return
  const there = model.files.reduce((sum, { size }) => sum + size, 0)
  const promised = sizeOf(model)
  if (promised > maxUnpacked(there))
    throw new Broken('bytes that are not there are not promised', `${promised} bytes of tensors in ${there}`)
}

const isTold = (what, told) => [...told].some((code) => what.test(code))

/** Views of one storage, and constants that a graph uses twice. */
const canShare = new Set(['torch', 'dcp', 'onnx', 'tflite'])

/** As far as the bytes of tensors are those of a file. Tensors may be tied, which gives both the same range. */
function bytesBelongToOne({ format, tensors }) {
  if (canShare.has(format)) return
  const ranges = tensors.flatMap(({ name, data }) =>
    data?.origin && data.byteLength > 0 ? [{ name, ...data.origin }] : [],
  )
  ranges.sort((a, b) => a.source.name.localeCompare(b.source.name) || a.offset - b.offset)
  for (const [i, { name, source, offset, length }] of ranges.entries()) {
    const before = ranges[i - 1]
    if (before?.source.name !== source.name || (before.offset === offset && before.length === length)) continue
    if (before.offset + before.length > offset)
      throw new Broken('every byte belongs to one tensor', `${JSON.stringify(name)} begins inside of another`)
  }
}

function namesDiffer({ tensors }) {
  const seen = new Set()
  for (const { name } of tensors) {
    if (seen.has(name)) throw new Broken('no two tensors have one name', JSON.stringify(name))
    seen.add(name)
  }
}

/** Patterns of a user meet names of a file: time grows with both, not with their powers. */
function namesAreMatchedFast({ tensors }) {
  const longest = tensors.reduce((best, { name }) => (name.length > best.length ? name : best), '')
  if (longest.length < 2000) return
  const common = longest[longest.length >> 1]
  const isWanted = selector([`*${`${common}*`.repeat(4)}\u0001`], [])
  const started = process.cpuUsage()
  isWanted(longest)
  const { user, system } = process.cpuUsage(started)
  if (user + system > 2e6)
    throw new Broken('names are matched in linear time', `${longest.length} characters take ${(user + system) / 1e6} s`)
}
