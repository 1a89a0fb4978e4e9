import type { Code } from '../../../errors/index.js'
import type { CheckContext, Tensor } from '../../../model/index.js'

/** One finding per tensor and kind: how often, and where first. */
export class Tally {
  #count = 0
  #first = -1

  add(count: number, offset: number): void {
    if (count > 0 && this.#count === 0) this.#first = offset
    this.#count += count
  }

  report(code: Code, tensor: Tensor, context: CheckContext, what: string): void {
    if (this.#count === 0) return
    context.report.report(code, {
      offset: tensor.data!.origin!.offset + this.#first,
      path: `data[${JSON.stringify(tensor.name)}]`,
      message: `${this.#count} ${what}`,
    })
  }
}
