// "8.3M", "17M", "8x7B": how large a model is.
import { elementsIn } from '../../bytes/index.js'
import type { Tensor } from '../../model/index.js'

export interface ParameterCount {
  readonly total: number
  /** Without experts. */
  readonly shared: number
  /** One expert of every layer. */
  readonly expert: number
  readonly experts: number
}

export function countParameters(tensors: readonly Tensor[]): ParameterCount {
  let [total, shared, expert, sum, count] = [0, 0, 0, 0, 0]
  for (const { name, shape } of tensors) {
    const size = elementsIn(shape) ?? 0
    total += size
    const experts = name.includes('_exps.') && shape.length >= 3 ? shape.at(name.includes('.bias') ? -2 : -3)! : 0
    if (experts === 0) {
      shared += size
      continue
    }
    expert += Math.floor(size / experts)
    sum += experts
    count++
  }
  return { total, shared, expert, experts: count > 0 ? Math.floor(sum / count) : 0 }
}

export function sizeLabel({ total, shared, expert, experts }: ParameterCount): string {
  return experts > 0 ? `${experts}x${rounded(shared + expert)}` : rounded(total)
}

function rounded(count: number): string {
  const [scaled, unit] =
    count > 1e12
      ? [count * 1e-12, 'T']
      : count > 1e9
        ? [count * 1e-9, 'B']
        : count > 1e6
          ? [count * 1e-6, 'M']
          : [count * 1e-3, 'K']
  const digits = fixed(scaled, 0).replace(/^0+/, '').length
  return fixed(scaled, Math.max(2 - digits, 0)) + unit
}

/** Ties go to the even digit; `toFixed` rounds them up. */
function fixed(value: number, digits: number): string {
  const doubled = value * 2 * 10 ** digits
  const isTie = Number.isInteger(value * 2 ** (digits + 1)) && doubled % 2 === 1
  if (!isTie) return value.toFixed(digits)
  const below = (doubled - 1) / 2
  return ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits)
}
