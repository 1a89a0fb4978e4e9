// What a set of tensors must hold to as a whole before it is laid out.

import { type DType, isSizeOf } from '../../dtypes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import { bytesPayload, type Tensor, type WriteCapabilities } from '../../model/index.js'
import { nearestBlocks } from '../../transforms/quantize/method.js'
import type { PlanAction } from '../actions.js'
import type { State } from './state.js'

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
  const message = `${title} holds ${max}, the model has ${count}; choose with --only`
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
      const message = `it cannot be quantized to ${methods.get(name)} here: ${why}; choose ${instead ?? 'another format'}`
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
