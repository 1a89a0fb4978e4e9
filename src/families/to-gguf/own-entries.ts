// The metadata that an architecture has by its table.
import type { MetaValue } from '../../model/index.js'
import type { ModelConfig } from '../config.js'
import type { Facts } from '../family.js'
import { valueFor } from '../metadata-values.js'

/** Whether a key of a table stands under the name of the architecture. */
export const isOwnKey = (key: string): boolean => !/^(general|tokenizer|diffusion|xielu)\./.test(key)

export function ownEntries({ family }: ModelConfig, facts: Facts, file: string): (readonly [string, MetaValue])[] {
  return family.keys.flatMap((rule) => {
    const value = valueFor(rule, facts, file)
    return value ? [[isOwnKey(rule.key) ? `${family.architecture}.${rule.key}` : rule.key, value] as const] : []
  })
}
