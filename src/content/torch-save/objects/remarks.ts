// Remarks that are made once, however often they apply: a model can have a thousand quantized tensors.
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'

type Kind = 'quantized' | 'meta' | 'tensor-key' | 'default-dict'

interface Occurrences {
  count: number
  readonly first: string
  readonly offset: number
}

const messages: Readonly<Record<Kind, (count: string, first: string) => string>> = {
  quantized: (count, first) => `${count} quantized: ${first}`,
  meta: (count, first) => `${count} declared without data: ${first}`,
  'tensor-key': (count, first) => `${count} a key that is a tensor, which is not read: ${first}`,
  'default-dict': (count, first) => `${count} a defaultdict, whose default is not kept: ${first}`,
}

const subjects: Readonly<Record<Kind, readonly [one: string, more: string]>> = {
  quantized: ['tensor is', 'tensors are'],
  meta: ['tensor is', 'tensors are'],
  'tensor-key': ['value has', 'values have'],
  'default-dict': ['value is', 'values are'],
}

export class Remarks {
  readonly #seen = new Map<Kind, Occurrences>()

  /** `name` is where it was met; the first one is shown, with its `detail`. */
  add(kind: Kind, name: string, offset: number, detail = ''): void {
    const known = this.#seen.get(kind)
    if (known) known.count++
    else this.#seen.set(kind, { count: 1, first: JSON.stringify(name.slice(0, 200)) + detail, offset })
  }

  report({ report }: ReadContext, path: string): void {
    for (const [kind, { count, first, offset }] of this.#seen) {
      const shown = count === 1 ? first : `${first}, …`
      const message = messages[kind](`${count} ${subjects[kind][count === 1 ? 0 : 1]}`, shown)
      report.report(codes[kind], { offset, path, message })
    }
  }
}
