// How large the KV cache of a model becomes. Each layer with attention keeps a key and a value per head and token, but models save on that in
// many ways: heads share keys, some layers see only a window of tokens, others have no attention at all, and DeepSeek's keep one short vector
// for all heads. The words for it are those of config.json and GGUF; an unknown kind of layer counts in full.

/** The numbers that a cache holds. */
export interface CacheSize {
  /** Added by each token, in all layers together. */
  readonly perToken: number
  /** What of it is in layers that keep the last tokens only. */
  readonly window?: { readonly tokens: number; readonly perToken: number }
}

interface Sizes {
  readonly layers?: number
  readonly heads?: number
  readonly kvHeads?: number
  readonly headDim?: number
}

/** Looks a word up wherever the model states something: anything may come back, undefined if nothing does. */
type Lookup = (...words: readonly string[]) => unknown

/** What a layer keeps: every token, those of a window, or nothing that grows. */
type LayerKind = 'all' | 'window' | 'none'

const maxLayers = 4096

/** Undefined if it is not known, or if there is none. */
export function cacheSize(architecture: string | undefined, sizes: Sizes, lookup: Lookup): CacheSize | undefined {
  const { layers } = sizes
  if (architecture === undefined || layers === undefined || layers > maxLayers) return undefined
  if (hasNoCache.test(architecture) || lookup('is_encoder_decoder') === true) return undefined
  const perLayer = sizePerLayer(sizes, layers, lookup)
  if (perLayer === undefined) return undefined
  const tokens = windowOf(lookup)
  const kinds = kindsOf(architecture, layers, tokens !== undefined, lookup)
  const sum = (isCounted: (kind: LayerKind) => boolean): number =>
    perLayer.reduce((total, size, layer) => total + (isCounted(kinds[layer]!) ? size : 0), 0)
  const perToken = sum((kind) => kind !== 'none')
  const inWindow = sum((kind) => kind === 'window')
  if (perToken === 0 || !Number.isSafeInteger(perToken)) return undefined
  return { perToken, ...(tokens !== undefined && inWindow > 0 && { window: { tokens, perToken: inWindow } }) }
}

/** Encoders see a text at once, so that nothing is kept for the next token; recurrent models keep a state of fixed size. */
const hasNoCache =
  /bert|mpnet|electra|encoder|clip|siglip|vit\b|deit|swin|beit|dino|resnet|convnext|wav2vec|\bm?t5\b|(^|[_-])mamba|rwkv|xlstm/i

function sizePerLayer({ heads, kvHeads = heads, headDim }: Sizes, layers: number, lookup: Lookup) {
  const compressed = numberIn(lookup('kv_lora_rank', 'attention.kv_lora_rank'))
  if (compressed !== undefined) {
    const rotated = numberIn(lookup('qk_rope_head_dim', 'rope.dimension_count'))
    return rotated === undefined ? undefined : new Array<number>(layers).fill(compressed + rotated)
  }
  if (kvHeads === undefined || headDim === undefined) return undefined
  const each = headDim + (numberIn(lookup('attention.value_length', 'v_head_dim')) ?? headDim)
  const stated = lookup('attention.head_count_kv', 'num_key_value_heads', 'num_kv_heads')
  const differ = Array.isArray(stated) && stated.length === layers
  return Array.from({ length: layers }, (_, layer) => (differ ? (numberIn(stated[layer]) ?? 0) : kvHeads) * each)
}

function windowOf(lookup: Lookup): number | undefined {
  if (lookup('use_sliding_window') === false) return undefined
  return numberIn(lookup('sliding_window', 'attention.sliding_window', 'attention_chunk_size'))
}

/** One layer in this many sees all tokens; for these architectures only the program says so. */
const windowPeriods: Readonly<Record<string, number>> = {
  ...{ gemma2: 2, gemma3: 6, gemma3_text: 6, gemma3n: 5, gemma3n_text: 5, cohere2: 4, exaone4: 4 },
  ...{ gpt_oss: 2, 'gpt-oss': 2, llama4: 4, llama4_text: 4, olmo2: 4, olmo3: 4 },
}

function kindsOf(architecture: string, layers: number, hasWindow: boolean, lookup: Lookup): readonly LayerKind[] {
  const local: LayerKind = hasWindow ? 'window' : 'all'
  const shared = numberIn(lookup('num_kv_shared_layers', 'attention.shared_kv_layers')) ?? 0
  const fill = (kindOf: (layer: number) => LayerKind): LayerKind[] =>
    Array.from({ length: layers }, (_, layer) => (layer >= layers - shared ? 'none' : kindOf(layer)))

  const listed = lookup('layer_types', 'layers_block_type')
  if (Array.isArray(listed) && listed.length === layers) return fill((layer) => kindNamed(String(listed[layer]), local))
  const letters = lookup('hybrid_override_pattern')
  if (typeof letters === 'string' && letters.length === layers)
    return fill((layer) => (letters[layer] === '*' ? 'all' : 'none'))
  const attending = lookup('attn_layer_indices', 'full_attn_idxs')
  if (Array.isArray(attending)) return fill((layer) => (attending.includes(layer) ? 'all' : 'none'))
  const interval = numberIn(lookup('full_attention_interval'))
  if (interval !== undefined) return fill((layer) => ((layer + 1) % interval === 0 ? 'all' : 'none'))
  const period = numberIn(lookup('attn_layer_period'))
  const first = numberIn(lookup('attn_layer_offset')) ?? 0
  if (period !== undefined) return fill((layer) => (layer % period === first ? 'all' : 'none'))
  if (!hasWindow) return fill(() => 'all')

  const pattern = lookup('attention.sliding_window_pattern', 'sliding_window_pattern')
  if (Array.isArray(pattern) && pattern.length === layers)
    return fill((layer) => (pattern[layer] === true ? 'window' : 'all'))
  const everyNth =
    numberIn(pattern) ?? (Object.hasOwn(windowPeriods, architecture) ? windowPeriods[architecture] : undefined)
  if (everyNth !== undefined) return fill((layer) => ((layer + 1) % everyNth === 0 ? 'all' : 'window'))
  const unwindowed = numberIn(lookup('max_window_layers')) ?? 0
  return fill((layer) => (layer < unwindowed ? 'all' : 'window'))
}

function kindNamed(name: string, local: LayerKind): LayerKind {
  if (/sliding|chunked|local/.test(name)) return local
  return /linear|mamba|conv|recurrent|ssm/.test(name) ? 'none' : 'all'
}

/** A number above 0, also as text. */
export function numberIn(value: unknown): number | undefined {
  const number =
    typeof value === 'bigint' || (typeof value === 'string' && /^[0-9]{1,15}$/.test(value)) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined
}
