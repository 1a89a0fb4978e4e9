// Which rule of an architecture a tensor of GGUF comes from: the table of names, read the other way.
import type { Family, TensorRule } from '../family.js'
import { ruleOf } from '../to-gguf/names.js'

export interface Origin {
  /** The name in the table. */
  readonly pattern: string
  readonly rule: TensorRule
  /** The names of all tensors that it takes, of which this is the one at `part`. */
  readonly names: readonly string[]
  readonly part: number
  readonly layer: number
  /** What is carried over to the name. */
  readonly suffix: string
}

type Entry = Pick<Origin, 'pattern' | 'rule' | 'part'> & { readonly rank: number }

/** Where several names lead to one, the first of the table counts. */
export function originsIn({ tensors }: Family): (name: string) => Origin | undefined {
  const entries = new Map<string, Entry>()
  for (const [rank, [pattern, stated]] of Object.entries(tensors).entries()) {
    const rule = ruleOf(stated)
    for (const [part, to] of targetsOf(rule).entries())
      if (!entries.has(to)) entries.set(to, { pattern, rule, part, rank })
  }
  return (name) => {
    const layer = Number(/^(?:enc\.|dec\.)?blk\.(\d{1,9})\./.exec(name)?.[1] ?? 0)
    const full = name.replace(/^((?:enc\.|dec\.)?blk)\.\d{1,9}\./, '$1.{n}.')
    const base = full.replace(/\.(weight|bias)$/, '')
    const found = [entries.get(full), entries.get(base)].filter((entry) => entry !== undefined)
    const entry = found.sort((a, b) => a.rank - b.rank)[0]
    if (!entry) return undefined
    const suffix = entry === entries.get(full) ? '' : full.slice(base.length)
    const names = targetsOf(entry.rule).map((to) => to.replace('{n}', String(layer)) + suffix)
    return { pattern: entry.pattern, rule: entry.rule, names, part: entry.part, layer, suffix }
  }
}

const targetsOf = ({ to }: TensorRule): readonly string[] => (typeof to === 'string' ? [to] : to)

/** The name in the directory, as models of this class are published. */
export function publishedName({ prefix }: Family, className: string, origin: Origin, expert = 0): string {
  const { pattern, layer, suffix } = origin
  const name = pattern.replace('{n}', String(layer)).replace('{e}', String(expert)) + suffix
  const added = prefix?.add?.[className] ?? ''
  if (added !== '' && name.startsWith(added)) return name.slice(added.length)
  return prefix?.back !== undefined && !name.startsWith('lm_head') ? prefix.back + name : name
}
