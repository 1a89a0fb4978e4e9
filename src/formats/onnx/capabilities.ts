// What becomes of a model that is written. A model with a graph keeps it. A BERT encoder becomes a graph that is made from its weights; of any
// other model the tensors are written, as a graph without nodes.
import { vocabularyKind } from '../../content/vocabulary.js'
import { findEncoder } from '../../embed/encoder.js'
import { callerWord, TareError } from '../../errors/index.js'
import type {
  Fit,
  FormatOption,
  MetaValue,
  Model,
  OptionValues,
  Part,
  Tensor,
  WriteCapabilities,
} from '../../model/index.js'
import { typeNumbers } from './tensors/data-types.js'
import { addedKeys, fieldKind, graphKind } from './words.js'

/** The property that a vocabulary becomes. */
export const vocabularyKey = 'tare.vocabulary'

export const exportOptions: readonly FormatOption[] = [
  { name: 'heads', argument: 'N', kind: 'integer', description: 'how many attention heads the encoder has' },
  {
    name: 'profile',
    argument: 'original|reference',
    choices: ['original', 'reference'],
    description: 'compute as the original model does (default), or as the reference library of EMBD',
  },
]

const no = (reason: string): { fits: false; reason: string } => ({ fits: false, reason })

/** Names and types of any model. */
export const exchangeCapabilities: WriteCapabilities = {
  order: 'row',
  shards: true,
  folder: true,
  rawNames: true,
  addedKeys,
  tensor({ dtype, data, name, rawName, shape }: Tensor): Fit<Tensor> {
    if (!typeNumbers.has(dtype.id)) return no(`ONNX has no type for ${dtype.id}`)
    if (!data) return no('ONNX has no tensors without data')
    if (name === '' || rawName?.[0]?.byteLength === 0)
      return no('in ONNX nothing could refer to a tensor without a name')
    return shape.length > maxDims ? no(`ONNX tensors have at most ${maxDims} dimensions here`) : { fits: true }
  },
  metadata(key: string, value: MetaValue): Fit<MetaValue> {
    const kind = fieldKind(key)
    if (kind === 'integer')
      return value.type === 'i64' && isShort(value.value) ? { fits: true } : no('a whole number stands there')
    // Readers take a name or a description that is not UTF-8; properties are read as texts only.
    if (value.type !== 'str' || (value.bytes && kind !== 'text')) return no('properties of ONNX are texts')
    return kind === 'text' && value.value === '' ? no('an empty text says nothing there') : { fits: true }
  },
  part: () => no('ONNX cannot store it'),
}

const maxDims = 255
const isShort = (value: number | bigint): boolean => value > -(10n ** 18n) && value < 10n ** 18n

/** The graph stays as it is, with everything that it has. */
const graphCapabilities: WriteCapabilities = {
  ...exchangeCapabilities,
  addedKeys: () => [],
  keeps: ['constant', 'graph'],
  // Limits and the like that another type may not even have.
  isWeight: ({ extra, shape }: Tensor) => !extra?.constant && shape.some((dim) => dim > 1),
  orientation: 'as-is',
  part: (part: Part): Fit<Part> => (part.kind.startsWith('onnx.') ? { fits: true } : no('ONNX cannot store it')),
}

export function writeCapabilities(model: Model, extra: OptionValues): WriteCapabilities {
  if (hasGraph(model)) return graphCapabilities
  const unused = unusedByEncoder(model, extra)
  return unused ? encoderCapabilities(unused) : { ...exchangeCapabilities, notes: () => [noGraphNote()] }
}

const noGraphNote = (): string =>
  `the tensors are written as a graph without nodes, which computes nothing${callerWord('; --graph FILE puts them into a graph', '')}`

export const hasGraph = ({ parts }: Model): boolean =>
  parts.some(({ kind, content }) => kind === graphKind && content !== undefined)

function encoderCapabilities(unused: ReadonlySet<string>): WriteCapabilities {
  return {
    order: 'both',
    shards: true,
    // The graph itself transposes and decodes weights.
    orientation: 'as-is',
    tensor(tensor: Tensor): Fit<Tensor> {
      if (unused.has(tensor.name)) return no('the graph of the encoder does not use it')
      return { fits: true, as: tensor, loss: 'form', reason: 'becomes a constant of the graph, as f32' }
    },
    metadata: (_key, value) =>
      value.type === 'str' && !value.bytes ? { fits: true } : no('properties of ONNX are texts'),
    part(part: Part): Fit<Part> {
      if (part.kind !== vocabularyKind) return no('the graph of an encoder cannot store it')
      return { fits: true, as: part, loss: 'form', reason: `kept as text in the property ${vocabularyKey}` }
    },
  }
}

/**
 * The tensors of an encoder that its graph has no use for; undefined if the model is none, which is an error where the options of an encoder
 * are given. How many heads there are does not matter for what fits, and config.json is asked for it only when the graph is made.
 */
export function unusedByEncoder(model: Model, extra: OptionValues = {}): ReadonlySet<string> | undefined {
  const options = graphOptions(extra)
  try {
    return new Set(findEncoder(model, { ...options, heads: 1 }).unused)
  } catch (error) {
    if (!(error instanceof TareError) || options.heads !== undefined || options.profile !== undefined) throw error
    return undefined
  }
}

export const graphOptions = (extra: OptionValues | undefined) => ({
  heads: extra?.heads as number | undefined,
  profile: extra?.profile as 'original' | 'reference' | undefined,
})
