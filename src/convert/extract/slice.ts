// Slices in Python's notation, `0:10,:,3`, cut from a row-major tensor while it streams.
import { countElements } from '../../bytes/index.js'
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import { lazyPayload, type Payload, type Tensor } from '../../model/index.js'

export interface Cut {
  readonly start: number
  readonly count: number
  readonly step: number
  /** A single index takes the dimension away. */
  readonly drop: boolean
}

export function parseSlice(notation: string, shape: readonly number[]): Cut[] {
  const wrong = (why: string): never =>
    failWith(usageCodes.option, {
      file: callerWord('--slice', 'slice'),
      message: `${JSON.stringify(notation)}: ${why}`,
    })
  const parts = notation.trim() === '' ? [] : notation.split(',')
  if (parts.length > shape.length) wrong(`there are ${parts.length} ranges, the shape is [${shape.join(', ')}]`)
  return shape.map((dim, axis) => {
    const part = (parts[axis] ?? ':').trim()
    const match = /^(?:(-?\d+)|(-?\d*):(-?\d*)(?::(\d*))?)$/.exec(part)
    if (!match) return wrong(`"${part}" is neither an index nor start:stop:step`)
    const fromEnd = (value: number): number => (value < 0 ? value + dim : value)
    if (match[1] !== undefined) {
      const index = fromEnd(Number(match[1]))
      if (index < 0 || index >= dim) wrong(`index ${match[1]} is outside dimension ${axis}, which has ${dim}`)
      return { start: index, count: 1, step: 1, drop: true }
    }
    const clamp = (given: string | undefined, otherwise: number): number =>
      given ? Math.min(Math.max(fromEnd(Number(given)), 0), dim) : otherwise
    const step = match[4] ? Number(match[4]) : 1
    if (step < 1) wrong('the step must be positive')
    const start = clamp(match[2], 0)
    const stop = clamp(match[3], dim)
    return { start, count: Math.max(0, Math.ceil((stop - start) / step)), step, drop: false }
  })
}

/** The part of a row-major tensor that the cuts leave, still lazy. */
export function sliceTensor(tensor: Tensor, cuts: readonly Cut[]): Tensor {
  const { group, regions } = tensor.dtype
  if (group.elements !== 1 || regions) {
    const why = regions ? 'keeps scales and codes apart' : 'packs several elements into a byte'
    const message = `${tensor.dtype.id} ${why}; decode it first, for example with ${callerWord('--as f32', "as: 'f32'")}`
    failWith(usageCodes.option, { file: callerWord('--slice', 'slice'), path: tensor.name, message })
  }
  const shape = cuts.filter((cut) => !cut.drop).map((cut) => cut.count)
  const data = tensor.data
  if (!data) return { ...tensor, shape }
  const length = (countElements(cuts.map((cut) => cut.count)) ?? 0) * group.bytes
  return {
    ...tensor,
    shape,
    data: lazyPayload(length, (signal) => cutRuns(data, runs(tensor.shape, cuts, group.bytes), signal)),
  }
}

interface Run {
  readonly offset: number
  readonly length: number
}

/** The byte ranges that make up the slice, ascending. Trailing dimensions that are taken whole join into one run. */
function* runs(shape: readonly number[], cuts: readonly Cut[], elementBytes: number): Generator<Run> {
  const strides: number[] = []
  let stride = elementBytes
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride
    stride *= shape[axis]!
  }
  let inner = cuts.length
  while (inner > 0 && cuts[inner - 1]!.count === shape[inner - 1] && cuts[inner - 1]!.step === 1) inner--
  if (cuts.some((cut) => cut.count === 0)) return
  const whole = inner === cuts.length ? elementBytes : strides[inner]! * shape[inner]!
  if (inner === 0) return yield { offset: 0, length: whole }
  const last = cuts[inner - 1]!
  const lastStride = strides[inner - 1]!
  const outer = cuts.slice(0, inner - 1)
  const index = outer.map(() => 0)
  for (;;) {
    let base = last.start * lastStride
    for (let axis = 0; axis < outer.length; axis++)
      base += (outer[axis]!.start + index[axis]! * outer[axis]!.step) * strides[axis]!
    if (last.step === 1) yield { offset: base, length: last.count * lastStride }
    else for (let i = 0; i < last.count; i++) yield { offset: base + i * last.step * lastStride, length: whole }
    let axis = outer.length - 1
    while (axis >= 0 && ++index[axis]! === outer[axis]!.count) index[axis--] = 0
    if (axis < 0) return
  }
}

const spanLimit = 1 << 20

/** Neighbouring runs are fetched together; a payload that cannot be read out of order is streamed once. */
async function* cutRuns(
  data: Payload,
  ranges: Iterable<Run>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  if (!data.read) return yield* cutStream(data, ranges, signal)
  let group: Run[] = []
  const flush = async function* (): AsyncGenerator<Uint8Array, void, void> {
    const first = group[0]
    if (!first) return
    const end = group.at(-1)!.offset + group.at(-1)!.length
    if (group.length === 1) {
      for (let at = first.offset; at < end; at += spanLimit)
        yield await data.read!(at, Math.min(spanLimit, end - at), signal)
    } else {
      const span = await data.read!(first.offset, end - first.offset, signal)
      for (const run of group) yield span.subarray(run.offset - first.offset, run.offset - first.offset + run.length)
    }
    group = []
  }
  for (const run of ranges) {
    if (group.length > 0 && run.offset + run.length - group[0]!.offset > spanLimit) yield* flush()
    group.push(run)
  }
  yield* flush()
}

async function* cutStream(
  data: Payload,
  ranges: Iterable<Run>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const iterator = ranges[Symbol.iterator]()
  let run = iterator.next().value as Run | undefined
  let at = 0
  for await (const chunk of data.chunks(spanLimit, signal)) {
    const end = at + chunk.byteLength
    while (run && run.offset < end) {
      const from = Math.max(run.offset, at)
      const to = Math.min(run.offset + run.length, end)
      if (from < to) yield chunk.subarray(from - at, to - at)
      if (run.offset + run.length > end) break
      run = iterator.next().value as Run | undefined
    }
    if (!run) return
    at = end
  }
}
