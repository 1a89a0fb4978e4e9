// Which rule of an architecture a tensor's name falls under.
import type { ModelConfig } from '../config.js'
import type { NameTable, TensorRule } from '../family.js'

export interface Match {
  /** The entry of the table. */
  readonly pattern: string
  readonly rule: TensorRule
  readonly layer: number | undefined
  readonly expert: number | undefined
  /** What is carried over to the new name. */
  readonly suffix: string
}

const suffix = /\.(weight|bias)$/

/** The rule for a name as `cleanName` gives it; undefined if the architecture has no such tensor. */
export function matchName(names: NameTable, name: string): Match | undefined {
  // The second number is an expert, unless the table has it as it is.
  return matchNumbers(names, name, 1) ?? matchNumbers(names, name, 2) ?? matchCounted(names, name)
}

/** A name whose only number counts tensors that are stacked. */
function matchCounted(names: NameTable, name: string): Match | undefined {
  const [, before, number, after] = /^([^\d]*\.)(\d{1,9})(\.[^\d]*)$/.exec(name) ?? []
  if (before === undefined) return undefined
  const found = matchNumbers(names, `${before}{e}${after}`, 1)
  return found?.rule.count === undefined ? undefined : { ...found, expert: Number(number) }
}

function matchNumbers(names: NameTable, name: string, max: 1 | 2): Match | undefined {
  const numbers: number[] = []
  const pattern = name
    .split('.')
    .map((part) => {
      if (numbers.length === max || !/^\d{1,9}$/.test(part)) return part
      numbers.push(Number(part))
      return numbers.length === 1 ? '{n}' : '{e}'
    })
    .join('.')
  const [layer, expert] = numbers
  const full = Object.hasOwn(names, pattern) ? names[pattern] : undefined
  if (full !== undefined) return { pattern, rule: ruleOf(full), layer, expert, suffix: '' }
  const base = pattern.replace(suffix, '')
  const found = base !== pattern && Object.hasOwn(names, base) ? names[base] : undefined
  if (found === undefined) return undefined
  return { pattern: base, rule: ruleOf(found), layer, expert, suffix: pattern.slice(base.length) }
}

export const ruleOf = (entry: string | TensorRule): TensorRule => (typeof entry === 'string' ? { to: entry } : entry)

/** The names that a match leads to. */
export function targetNames({ rule, layer, suffix }: Match): string[] {
  const names = typeof rule.to === 'string' ? [rule.to] : rule.to
  return names.map((name) => name.replace('{n}', String(layer)) + suffix)
}

/** Weights of the parts that see or hear, which GGUF keeps in a file of their own. */
const otherSenses =
  /^(mlp|vit\.|vpm\.|siglip2\.|conformer\.|merger\.|resampler\.|sound_encoder\.|sound_projection\.|speech_embeddings\.)|visual\.|vision[._]|audio[._]|talker\.|token2wav\.|code2wav\.|projector\.|pre_mm_projector_norm|image_newline|view_seperator|patch_embed|patch_merger\.|patch_merge_mlp\.|model\.connector\./
/** Buffers that the library registers and computes again. */
const buffers = /\.attention\.(masked_)?bias$|\.rotary_emb\.inv_freq$/

/** The name that the tables have, or why the tensor is left out. */
export function cleanName(
  name: string,
  { family, className, config, layers }: ModelConfig,
): { readonly name: string } | { readonly why: string } {
  const { prefix, respell = [], drops = [] } = family
  let clean = name
  for (const each of prefix?.remove ?? []) if (clean.startsWith(each)) clean = clean.slice(each.length)
  for (const [pattern, replacement] of respell) clean = clean.replace(pattern, replacement)
  clean = family.named?.(clean, config) ?? clean
  if (otherSenses.test(clean)) return { why: 'it belongs to the part of the model that sees or hears' }
  if ([...drops, ...(family.classDrops?.[className] ?? [])].some((pattern) => pattern.test(clean)))
    return { why: 'llama.cpp has no use for it' }
  if (buffers.test(clean)) return { why: 'it is computed, not learned' }
  clean = clean.replace('language_model.', '')
  const layer = Number(/^model\.layers\.(\d+)\./.exec(clean)?.[1] ?? 0)
  if (family.dropsExtraLayers && layer >= layers) return { why: 'it predicts several tokens at once' }
  if (family.dropsTiedOutput && config.tie_word_embeddings === true && clean === 'lm_head.weight')
    return { why: 'it is the same as the embedding' }
  const added = prefix?.add?.[className] ?? ''
  return { name: clean.startsWith(added) || clean.startsWith('lm_head.') ? clean : added + clean }
}
