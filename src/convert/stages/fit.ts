// What the target makes of each tensor: its name, its element type and the order of its elements; and what the tensors must hold to as a
// whole.

import { defaultWindow, elementsIn } from '../../bytes/index.js'
import { type DType, dtypeById, i8, isReal, isSizeOf, u8 } from '../../dtypes/index.js'
import { callerWord, failWith, writeCodes } from '../../errors/index.js'
import { firstDifference } from '../../kernels/equal-bytes.js'
import { bytesPayload, type Fit, type Payload, type Tensor, type WriteCapabilities } from '../../model/index.js'
import { isAmbiguous, type Stower } from '../../stow/index.js'
import { castLoss, castTensor } from '../../transforms/cast.js'
import { changesForm, keepBytes } from '../../transforms/keep-bytes.js'
import { nearestBlocks } from '../../transforms/quantize/method.js'
import { columnMajor, rowMajor } from '../../transforms/reorder.js'
import { type ActionLog, applyFit, type Note, noter, type PlanAction } from '../actions.js'
import { type Item, noChanges, type State, withActions } from './state.js'

/** Each tensor in a form that the target takes, or as mere bytes, or only remembered, or dropped. */
export async function fit(state: State): Promise<State> {
  const { write, stower, options } = state
  // Only their own bytes bring these back.
  const strays = stower ? await findStrayCodes(state.model.tensors, write, options.signal) : new Set<number>()
  const actions: ActionLog = []
  const items = state.items.map(({ original, tensor, changes }, index): Item => {
    const before = actions.length
    const note = noter(actions, 'tensor', original.name)
    for (const { action, loss, ...more } of changes) note(action, loss, more)
    if (!tensor) return { original, tensor, changes: noChanges }
    const fitted = fitTensor(tensor, index, { write, note, actions, stower, isStray: strays.has(index) })
    if (fitted === undefined) return { original, tensor: undefined, changes: noChanges }
    if (fitted === 'stowed') return { original, tensor, changes: noChanges }
    const stored = inOrder(fitted, write.order, options.keepBytes ?? false, note)
    const seen = stored.data === fitted.data ? stored : { ...stored, data: fitted.data }
    const stowed = stower?.tensor(tensor, seen) ?? []
    if (!stower) noteLostName(tensor, stored, write, note)
    if (actions.length === before) {
      if (stowed.length > 0) note('stow', 'none', { reason: `beside the tensor: ${stowed.join(', ')}` })
      else note('copy', 'none')
    }
    return { original, tensor, stored, changes: noChanges }
  })
  return withActions({ ...state, items }, actions)
}

interface FitContext {
  readonly write: WriteCapabilities
  readonly note: Note
  readonly actions: ActionLog
  readonly stower: Stower | undefined
  readonly isStray: boolean
}

/** The tensor as the target takes it, if need be under another name or as mere bytes; undefined when it is dropped. */
function fitTensor(tensor: Tensor, index: number, context: FitContext): Tensor | 'stowed' | undefined {
  const { write, note, stower, isStray } = context
  const plain = withoutQuant(withNameFor(tensor, write), context)
  const fit = write.tensor(plain)
  const fitted = fit.fits
    ? applyRemembered(fit, plain, context)
    : isStray
      ? undefined
      : adapt(plain, fit.reason, context)
  if (fitted) return fitted
  if (!stower) return applyFit(fit, plain, note)
  const reason = fit.reason === undefined ? {} : { reason: fit.reason }
  if (!tensor.data || tensor.data.byteLength === 0) {
    stower.tensor(tensor, undefined)
    note('stow', 'none', reason)
    return 'stowed'
  }
  const renamed = { ...plain, name: `tare.tensor.${index}`, path: undefined, rawName: undefined }
  const adapted = isStray ? undefined : adaptable(renamed, context)
  const taken = adapted ?? asBytes(plain, write) ?? asBytes(renamed, write)
  if (taken) {
    note('stow', 'none', { ...reason, ...(taken.name !== tensor.name && { to: taken.name }) })
    return taken
  }
  return (isStray ? adapt(plain, fit.reason, context) : undefined) ?? applyFit(fit, plain, note)
}

/** Bytes of another kind are not remembered. */
const hasSameBytes = (as: Tensor | undefined, { dtype, encoding, order, data, quant }: Tensor): boolean =>
  as?.dtype === dtype && as.encoding === encoding && as.order === order && as.data === data && as.quant === quant

function adaptable(tensor: Tensor, context: FitContext): Tensor | undefined {
  const fit = context.write.tensor(tensor)
  return fit.fits ? (fit.as ?? tensor) : adapt(tensor, fit.reason, context)
}

function withoutQuant(tensor: Tensor, { write, actions, stower }: FitContext): Tensor {
  if (!tensor.quant || write.quant) return tensor
  const reason = 'the target has no place for quantization parameters'
  const note = noter(actions, 'part', `quantization of ${tensor.name}`)
  if (stower) note('stow', 'none', { reason })
  else note('drop', 'content', { reason })
  return { ...tensor, quant: undefined }
}

/** With an element type that the target has. */
function adapt(tensor: Tensor, reason: string | undefined, context: FitContext): Tensor | undefined {
  const { write, note, stower, isStray } = context
  const adapted = adaptTensor(tensor, write)
  if (!adapted) return undefined
  const { action, loss, from, to } = adapted
  // The values are all there; without a note of what they were, or with their codes gone, the form is not.
  const isReversible = stower !== undefined && action === 'cast' && !isStray
  note(action, loss === 'none' && !isReversible ? 'form' : loss, { from, to, ...(reason !== undefined && { reason }) })
  return applyRemembered(adapted.fit, adapted.tensor, context)
}

/** What is different about a tensor with the same bytes is no loss where it is remembered: its name, its shape and the like. */
function applyRemembered(fit: Fit<Tensor>, tensor: Tensor, { note, stower }: FitContext): Tensor | undefined {
  const isKept = fit.as === tensor || (stower !== undefined && hasSameBytes(fit.as, tensor))
  return applyFit(fit, tensor, note, isKept)
}

/** The stored bytes as a row of the smallest integers that the target has. */
function asBytes(tensor: Tensor, write: WriteCapabilities): Tensor | undefined {
  if (!tensor.data) return undefined
  const bytes: Tensor = { ...tensor, encoding: undefined, shape: [tensor.data.byteLength], order: 'row' }
  return [u8, i8].map((dtype) => ({ ...bytes, dtype })).find((each) => write.tensor(each).fits)
}

function inOrder(tensor: Tensor, order: WriteCapabilities['order'], keep: boolean, note: Note): Tensor {
  if (order === 'both' || tensor.order === order) return tensor
  const change = { from: tensor.order, to: order }
  if (keep) {
    const reason = 'the same bytes with reversed dimensions'
    if (changesForm(tensor, order)) note('reorder', 'form', { ...change, requested: true, reason })
    return keepBytes(tensor, order)
  }
  // With at most one dimension above 1, both orders are the same bytes.
  if (tensor.shape.filter((dim) => dim !== 1).length > 1) {
    note('reorder', 'none', { ...change, reason: 'the target stores elements in the other order' })
  }
  return order === 'row' ? rowMajor(tensor) : columnMajor(tensor)
}

/** What the target is asked to hold: a name that it cannot keep byte by byte goes by the text that stands for it. */
function withNameFor(tensor: Tensor, { paths, rawNames }: WriteCapabilities): Tensor {
  const isKept = !tensor.rawName || paths || (rawNames && !tensor.path)
  return isKept ? tensor : { ...tensor, rawName: undefined }
}

/** Says what a stored name does not tell any more, where nothing remembers it. */
function noteLostName(tensor: Tensor, stored: Tensor, { paths }: WriteCapabilities, note: Note): void {
  const { name, path, rawName, role } = tensor
  if (paths) return
  if (rawName && !stored.rawName) {
    const reason = `its name is not UTF-8; the text ${JSON.stringify(name)} stands for the bytes`
    note('map', 'content', { reason })
  }
  if (path && isAmbiguous(path, tensor)) {
    note('map', 'form', { reason: `its path ${JSON.stringify(path)} does not follow from the name` })
  }
  if (role === 'state') note('map', 'form', { reason: 'only its name says that it is a statistic of a parameter' })
}

export function checkTensors(state: State): State {
  const { items, write, target, options, actions } = state
  const kept = items.filter(({ tensor }) => tensor)
  const stored = items.filter((item) => item.stored)
  checkUniqueNames(
    kept.map(({ original }) => original.name),
    kept.map(({ tensor }) => tensor!.name),
    options.name,
  )
  // Tensors can be stored under other names than they have.
  if (stored.some((item) => item.stored!.name !== item.tensor!.name)) {
    checkUniqueNames(
      stored.map(({ original }) => original.name),
      stored.map((item) => item.stored!.name),
      options.name,
    )
  }
  checkCount(stored.length, write, target.title, options.name)
  if (options.quantize) checkQuantized(actions, write, target.title, options.name)
  return state
}

/** Two tensors of one name are refused with what both were called before. `before` and `after` go by pairs. */
export function checkUniqueNames(before: readonly string[], after: readonly string[], file: string): void {
  if (new Set(after).size === after.length) return
  const known = new Map<string, number>()
  for (const [i, name] of after.entries()) {
    const first = known.get(name)
    if (first === undefined) {
      known.set(name, i)
      continue
    }
    const [a, b, both] = [before[first]!, before[i]!, name].map((each) => JSON.stringify(each))
    const message = a === b ? `two tensors would be called ${both}` : `${a} and ${b} would both be called ${both}`
    failWith(writeCodes['duplicate-name'], { file, path: name, message })
  }
}

function checkCount(count: number, { maxTensors }: WriteCapabilities, title: string, file: string): void {
  if (maxTensors === undefined || count <= maxTensors) return
  const max = maxTensors === 1 ? 'one tensor' : `at most ${maxTensors} tensors`
  const message = `${title} holds ${max}, the model has ${count}; select them with ${callerWord('--only', 'only')}`
  failWith(writeCodes['name-unsupported'], { file, message })
}

/** Throws when the bytes of a tensor are not those of its shape and type: no reader would accept the file. */
export function assertSizes(tensors: readonly Tensor[], file: string): void {
  for (const { name, dtype, shape, data } of tensors) {
    if (!data || isSizeOf(dtype, shape, data.byteLength)) continue
    const wanted = dtype.byteLength(shape)
    const takes = wanted === undefined ? 'is more than any file can hold' : `takes ${wanted}`
    const message = `${data.byteLength} bytes, but ${dtype.id} of shape [${shape.join(', ')}] ${takes}`
    failWith(writeCodes['size-mismatch'], { file: data.origin?.source.name ?? file, path: name, message })
  }
}

/** Codes that the target turns into values again would cost precision and save nothing. */
function checkQuantized(actions: readonly PlanAction[], write: WriteCapabilities, title: string, file: string): void {
  const methods = new Map<string, string | undefined>()
  for (const { subject, name, action, to, reason } of actions) {
    if (subject === 'tensor' && action === 'quantize') methods.set(name, to)
    else if (subject === 'tensor' && action === 'dequantize' && methods.has(name)) {
      const why = reason ?? `${title} has no type for it`
      const instead = insteadFor(methods.get(name)!, write)
      const message = `it cannot be quantized to ${methods.get(name)} here: ${why}; use ${instead ?? 'another format'}`
      failWith(writeCodes['dtype-unsupported'], { file, path: name, message })
    }
  }
}

/** The method next to this one whose blocks the target takes as they are. */
function insteadFor(methodId: string, write: WriteCapabilities): string | undefined {
  const found = nearestBlocks(methodId)
  return found && takesBlocks(write, found.dtype) ? `the method ${found.name}` : undefined
}

/** Whether a matrix in blocks of this type can be stored as it is. */
export function takesBlocks(write: WriteCapabilities, dtype: DType): boolean {
  const shape = [1, dtype.group.elements]
  const data = bytesPayload(new Uint8Array(dtype.byteLength(shape)!))
  const matrix: Tensor = { name: 'w', dtype, shape, order: 'row', role: 'weight', data }
  return write.tensor(matrix).fits
}

// A tensor whose element type the target does not have is given another one: one that holds every value if there is any, else the
// nearest float, and then the loss is named. Blocks are decoded to what their format defines as their values, f32.

interface Adapted {
  readonly tensor: Tensor
  readonly fit: Fit<Tensor>
  readonly action: 'cast' | 'dequantize'
  readonly loss: 'none' | 'precision'
  readonly from: string
  readonly to: string
}

/** From small to large; the first that holds every value is taken. */
const candidates = [
  'u8',
  'i8',
  'f8_e5m2',
  'f16',
  'bf16',
  'u16',
  'i16',
  'f32',
  'u32',
  'i32',
  'f64',
  'u64',
  'i64',
  'c64',
  'c128',
]
/** When nothing holds every value: what comes nearest. */
const nearest: Readonly<Record<string, readonly string[]>> = { float: ['f64', 'f32', 'f16', 'bf16'], complex: ['c64'] }

const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

/** Another form of the tensor that the target takes, or undefined. */
function adaptTensor(tensor: Tensor, write: WriteCapabilities): Adapted | undefined {
  const from = typeOf(tensor)
  if (!tensor.data) return undefined
  const isBlock = from.kind === 'block'
  // Codes whose scale is lost have no values.
  if (from.regions?.refusal(tensor.shape, tensor.data.byteLength)) return undefined
  if (!isBlock && !isReal(from) && from.kind !== 'complex') return undefined
  const asked = isBlock ? ['f32', 'f16', 'bf16'] : [...inOrderFor(from), ...(nearest[from.kind] ?? [])]
  for (const [i, id] of asked.entries()) {
    const to = dtypeById(id)
    if (!to || to.id === from.id || isWrongKind(from, to)) continue
    const loss = castLoss(from, to)
    if (loss !== 'none' && !isBlock && i < candidates.length) continue
    const fit = write.tensor({ ...tensor, dtype: to, encoding: undefined })
    if (!fit.fits) continue
    const changed = castTensor(tensor, to)
    return {
      tensor: changed,
      fit: write.tensor(changed),
      action: isBlock ? 'dequantize' : 'cast',
      loss,
      from: from.id,
      to: id,
    }
  }
  return undefined
}

/** Integers stay integers while any integer type holds them. */
function inOrderFor(from: DType): readonly string[] {
  if (!isWhole(from)) return candidates
  const isWholeId = (id: string): boolean => isWhole(dtypeById(id)!)
  return [...candidates.filter(isWholeId), ...candidates.filter((id) => !isWholeId(id))]
}

const isWhole = (dtype: DType): boolean => dtype.kind === 'int' || dtype.kind === 'uint'

/** Floats stay floats; what a boolean is should not become a number. */
function isWrongKind(from: DType, to: DType): boolean {
  if (from.kind === 'complex' || to.kind === 'complex') return from.kind !== to.kind
  if (from.kind === 'float' || from.kind === 'block') return isWhole(to)
  return from.kind === 'bool' && to.kind !== 'uint' && to.kind !== 'int'
}

// Tensors whose bytes another element type cannot give back although it holds every value: a bool of 2, a ternary code that stands for
// nothing, bits after the last element of a packed type. Only their bytes, kept as they are, come back unchanged. Few tensors are of such
// types, and of packed ones only the last bytes are looked at.

/** The positions of such tensors among those whose type the target does not have. */
async function findStrayCodes(
  tensors: readonly Tensor[],
  write: WriteCapabilities,
  signal?: AbortSignal,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>()
  for (let i = 0; i < tensors.length; i++) {
    const tensor = tensors[i]!
    if (!mayStray(tensor) || write.tensor(tensor).fits) continue
    if (await hasStrayCodes(tensor, tensor.data!, signal)) found.add(i)
  }
  return found
}

function mayStray(tensor: Tensor): boolean {
  const { hasStrayCodes, kind, codec, group } = typeOf(tensor)
  if (!tensor.data || !codec?.fromF64 || kind === 'block') return false
  return hasStrayCodes === true || elementsIn(tensor.shape)! % group.elements !== 0
}

async function hasStrayCodes(tensor: Tensor, data: Payload, signal?: AbortSignal): Promise<boolean> {
  const type = typeOf(tensor)
  const { elements, bytes } = type.group
  const count = elementsIn(tensor.shape)!
  if (!type.hasStrayCodes && data.read) {
    const whole = Math.floor(count / elements) * bytes
    return !comesBack(type, await data.read(whole, data.byteLength - whole, signal), count % elements)
  }
  let left = count
  for await (const chunk of data.chunks(defaultWindow - (defaultWindow % bytes), signal)) {
    const here = Math.min(left, Math.ceil(chunk.byteLength / bytes) * elements)
    if (!comesBack(type, chunk, here)) return true
    left -= here
  }
  return false
}

function comesBack({ codec }: DType, bytes: Uint8Array, count: number): boolean {
  const values = new Float64Array(count)
  codec!.toF64(bytes, values)
  const again = new Uint8Array(bytes.byteLength)
  return codec!.fromF64!(values, again) < 0 && firstDifference(again, bytes) < 0
}
