// What the first bytes say: which of the containers it is, how tensors are placed in it, and whose settings can follow. The magic numbers are
// words of four letters that were written as integers, so that they stand in the file backwards.

export interface Header {
  /** In the words of llama.cpp, as far as it has one. Absent: it is an adapter, which does not say for what. */
  readonly architecture?: string
  /** The settings in file order, 32 bits each; integers unless they are listed under `floats`. */
  readonly settings: readonly string[]
  readonly floats?: readonly string[]
  /** A table of numbers for the spectrum of sounds follows the settings. */
  readonly filters?: true
  /** Where the number of tokens is: among the settings, or before the tokens once more. Absent: there is no vocabulary. */
  readonly tokens?: 'stated' | 'counted'
  /** Both numbers are the same. */
  readonly isCountRepeated?: true
  /** Each token has a score. */
  readonly scores?: true
  /** What the first tensor is called, where the same number of settings begins other files. */
  readonly firstName?: RegExp
  /** The tensors that a model with these settings has. */
  tensors?(settings: ReadonlyMap<string, number>): string[]
}

export interface Container {
  readonly name: 'ggml' | 'ggmf' | 'ggjt' | 'ggla'
  /** Absent: the container has none. */
  readonly versions?: readonly number[]
  /** Data begins at multiples of this. */
  readonly alignment: number
  readonly headers: readonly Header[]
}

/** No model has nearly as many layers. */
const maxLayers = 1024

const weights = (prefix: string, names: string): string[] => words(names).map((name) => prefix + name)

/** The same names in each layer. */
function layers(count: number | undefined, prefix: string, names: string): string[] {
  if (count === undefined || count > maxLayers) return []
  return Array.from({ length: count }, (_, i) => weights(`${prefix}${i}.`, names)).flat()
}

const words = (text: string): string[] => text.split(' ')

const llamaLayer =
  'attention.wq.weight attention.wk.weight attention.wv.weight attention.wo.weight attention_norm.weight feed_forward.w1.weight feed_forward.w2.weight feed_forward.w3.weight ffn_norm.weight'

/** Of an attention in a whisper model, with the norm before it. */
const attention = (name: string): string =>
  words('.query.weight .query.bias .key.weight .value.weight .value.bias .out.weight .out.bias _ln.weight _ln.bias')
    .map((part) => name + part)
    .join(' ')
const perceptron = 'mlp.0.weight mlp.0.bias mlp.2.weight mlp.2.bias mlp_ln.weight mlp_ln.bias'

const llama: Header = {
  architecture: 'llama',
  settings: words('n_vocab n_embd n_mult n_head n_layer n_rot ftype'),
  tokens: 'stated',
  tensors: (settings) => [
    ...words('tok_embeddings.weight norm.weight output.weight'),
    ...layers(settings.get('n_layer'), 'layers.', llamaLayer),
  ],
}

/** Of programs that share the container without a version. They are told apart by what fits. */
const unversioned: readonly Header[] = [
  {
    architecture: 'whisper',
    settings: words(
      'n_vocab n_audio_ctx n_audio_state n_audio_head n_audio_layer n_text_ctx n_text_state n_text_head n_text_layer n_mels ftype',
    ),
    filters: true,
    tokens: 'counted',
    tensors: (settings) => [
      ...weights('encoder.', 'positional_embedding conv1.weight conv1.bias conv2.weight conv2.bias'),
      ...weights('encoder.ln_post.', 'weight bias'),
      ...weights('decoder.', 'positional_embedding token_embedding.weight ln.weight ln.bias'),
      ...layers(settings.get('n_audio_layer'), 'encoder.blocks.', `${attention('attn')} ${perceptron}`),
      ...layers(
        settings.get('n_text_layer'),
        'decoder.blocks.',
        `${attention('attn')} ${attention('cross_attn')} ${perceptron}`,
      ),
    ],
  },
  {
    architecture: 'gpt2',
    settings: words('n_vocab n_ctx n_embd n_head n_layer ftype'),
    tokens: 'counted',
    isCountRepeated: true,
  },
  {
    architecture: 'gptj',
    settings: words('n_vocab n_ctx n_embd n_head n_layer n_rot ftype'),
    tokens: 'counted',
    isCountRepeated: true,
  },
  {
    architecture: 'bert',
    settings: words('n_vocab n_max_tokens n_embd n_intermediate n_head n_layer ftype'),
    tokens: 'stated',
    firstName: /^(bert\.)?embeddings\./,
  },
  llama,
  {
    architecture: 'gptneox',
    settings: words('n_vocab n_ctx n_embd n_head n_layer n_rot par_res ftype'),
    tokens: 'stated',
  },
  {
    architecture: 'mpt',
    settings: words('d_model max_seq_len n_heads n_layers n_vocab alibi_bias_max clip_qkv ftype'),
    floats: ['alibi_bias_max', 'clip_qkv'],
    tokens: 'stated',
  },
  {
    architecture: 'replit',
    settings: words('d_model max_seq_len n_heads n_layers n_vocab ftype'),
    tokens: 'stated',
    scores: true,
  },
  { architecture: 'bloom', settings: words('n_vocab n_embd n_mult n_head n_layer ftype'), tokens: 'stated' },
]

const scored: readonly Header[] = [{ ...llama, scores: true }]

export const containers: readonly Container[] = [
  { name: 'ggml', alignment: 1, headers: unversioned },
  { name: 'ggmf', versions: [1], alignment: 1, headers: scored },
  { name: 'ggjt', versions: [1, 2, 3], alignment: 32, headers: scored },
  { name: 'ggla', versions: [1], alignment: 32, headers: [{ settings: words('r alpha') }] },
]

/** The container that the first four bytes name. */
export const containerOf = (head: Uint8Array): Container | undefined =>
  containers.find(({ name }) => [...name].every((letter, i) => head[3 - i] === letter.charCodeAt(0)))
