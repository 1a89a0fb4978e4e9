// Decodes the numbers of two tensors of the same shape and compares them in row-major order, window by window.
import { defaultWindow } from '../bytes/index.js'
import { compareWindows, createMeter, distanceOf, type Meter } from '../kernels/numbers/compare.js'
import type { QuantParams, Tensor, TensorRecipe } from '../model/index.js'
import { tensorRecipe } from '../model/model.js'
import { makePacked } from '../packed/index.js'
import type { Job, JobHandler } from '../threads/index.js'
import { rebuildTensor } from '../transforms/rebuild.js'
import { sideBySide } from '../transforms/side-by-side.js'
import type { Watch } from './compare-bytes.js'
import { exactDifferences, type NumberForm, numberStream, readNumbers, realValues } from './real-values.js'
import { closenessOf, type ToleranceOptions } from './tolerance.js'
import type { ValueDifference } from './types.js'

/** The difference, or why there is no comparison. */
export async function compareValues(
  a: Tensor,
  b: Tensor,
  options: ToleranceOptions & Watch = {},
): Promise<ValueDifference | string> {
  const [left, right] = [realValues(a), realValues(b)]
  if (typeof left === 'string') return left
  if (typeof right === 'string') return right
  if (left.width !== right.width) return 'complex numbers are not compared with real ones'
  const form = wider(left.form, right.form)
  const [before, after] = [numberStream(left, form), numberStream(right, form)]
  if (typeof before === 'string') return before
  if (typeof after === 'string') return after
  const close = closenessOf(options)
  const meter = createMeter(left.width)
  for await (const pair of sideBySide(before, after, defaultWindow, options.signal)) {
    const [x, y] = [readNumbers(left, form, pair.a), readNumbers(right, form, pair.b)]
    const rests = exactDifferences(x, y)
    compareWindows(meter, { a: x.values, b: y.values, close, ...(rests && { rests }) })
    options.advance?.(2 * pair.a.byteLength)
  }
  return describe(meter, a.shape, close !== undefined)
}

interface Side {
  readonly tensor: TensorRecipe
  readonly quant?: QuantParams | undefined
}

interface ValuesData extends ToleranceOptions {
  readonly a: Side
  readonly b: Side
}

/** Undefined if other threads cannot read both tensors. */
export function valuesJob(a: Tensor, b: Tensor, { tolerance, metric }: ToleranceOptions): Job | undefined {
  const [left, right] = [tensorRecipe(a), tensorRecipe(b)]
  if (!left || !right) return undefined
  const data: ValuesData = {
    a: { tensor: left, quant: a.quant },
    b: { tensor: right, quant: b.quant },
    ...{ tolerance, metric },
  }
  return { kind: 'values', data, file: a.data?.origin?.source.name ?? 'tensor', offset: a.data?.origin?.offset ?? 0 }
}

/** Runs in a worker. */
export const compareInWorker: JobHandler = (data, _, { open, signal, advance }) => {
  const { a, b, tolerance, metric } = data as ValuesData
  const rebuild = ({ tensor, quant }: Side): Tensor => ({
    ...rebuildTensor(tensor, open, { packed: makePacked }),
    ...(quant && { quant }),
  })
  return compareValues(rebuild(a), rebuild(b), { tolerance, metric, signal, advance })
}

const forms: readonly NumberForm[] = ['f32', 'f64', 'wide']
const wider = (a: NumberForm, b: NumberForm): NumberForm => (forms.indexOf(a) > forms.indexOf(b) ? a : b)

function describe(meter: Meter, shape: readonly number[], hasCloseness: boolean): ValueDifference {
  const { differing, beyond, nonFinite, first, maxAbs, maxAbsAt, maxRel } = meter
  return {
    count: meter.count / meter.width,
    differing,
    ...(hasCloseness && { beyond }),
    nonFinite,
    first: first < 0 ? null : first,
    firstAt: first < 0 ? null : coordinatesOf(first, shape),
    maxAbs,
    maxAbsAt: maxAbs > 0 ? coordinatesOf(maxAbsAt, shape) : null,
    maxRel,
    ...distanceOf(meter),
  }
}

/** The coordinates of the element with this row-major index. */
export function coordinatesOf(index: number, shape: readonly number[]): number[] {
  const coordinates: number[] = []
  let rest = index
  for (const dim of shape.toReversed()) {
    coordinates.unshift(rest % dim)
    rest = Math.floor(rest / dim)
  }
  return coordinates
}
