// What the way to GGUF would make of a directory, compared with the file that the directory comes from. Weights are not read for that.
import { failWith, TareError, writeCodes } from '../../errors/index.js'
import { lazyPayload, type Metadata, type MetaValue, type Model, type Part, type Tensor } from '../../model/index.js'
import { type Carried, carriedFile, carriedJson, nothingCarried } from '../carried.js'
import { familyCodes } from '../codes.js'
import { isSameValue } from '../metadata-values.js'
import { toGguf } from '../to-gguf/convert.js'
import { fileTypes, type OutputType } from '../to-gguf/element-types.js'
import { numberAt } from './entries.js'
import { type FileContent, partOf } from './parts.js'

export interface Published {
  readonly tensors: readonly Tensor[]
  readonly files: ReadonlyMap<string, FileContent>
  readonly isSharded?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

const preKey = 'tokenizer.ggml.pre'
/** These follow from the weights, or from how they are spread over files. */
export const isAboutFile = (key: string): boolean => key === 'general.file_type' || /^(split|quantize)\./.test(key)

export async function findCarried(source: Model, published: Published): Promise<Carried> {
  if (!source.metadata.has('tokenizer.ggml.model')) return nothingCarried
  const { model: again, set: needed } = await convertAgain(source.metadata, published)
  const set = new Map<string, MetaValue>(needed)
  const stated = [...source.metadata].filter(([key]) => !isAboutFile(key))
  for (const [key, value] of stated) {
    const other = again.metadata.get(key)
    if (!other || !isSameValue(value, other)) set.set(key, value)
  }
  const unset = [...again.metadata.keys()].filter((key) => !source.metadata.has(key) && !isAboutFile(key))
  const keys = stated.map(([key]) => key)
  const together = [...again.metadata.keys(), ...set.keys()].filter((key) => source.metadata.has(key))
  const isOrdered = isSameOrder(
    [...new Set(together)].filter((key) => !isAboutFile(key)),
    keys,
  )
  const names = source.tensors.map(({ name }) => name)
  const follows = again.tensors.map(({ name }) => name)
  return {
    set,
    unset,
    keys: isOrdered ? undefined : [...source.metadata.keys()],
    tensors: isSameOrder(follows, names) && !published.isSharded ? undefined : names,
  }
}

const isSameOrder = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each, i) => each === b[i])

/** The file that the directory would become. A tokenizer that has no name there is one that was given a name otherwise. */
async function convertAgain(
  metadata: Metadata,
  published: Published,
): Promise<{ readonly model: Model; readonly set: Metadata }> {
  try {
    return { model: await convertWith(metadata, published, nothingCarried), set: nothingCarried.set }
  } catch (error) {
    const pre = metadata.get(preKey)
    if (!(error instanceof TareError) || error.code !== familyCodes['pre-tokenizer'].code || !pre) throw error
    const set = new Map([[preKey, pre]])
    return { model: await convertWith(metadata, published, { ...nothingCarried, set }), set }
  }
}

async function convertWith(
  metadata: Metadata,
  { tensors, files, signal }: Published,
  carried: Carried,
): Promise<Model> {
  const parts: Part[] = [...files].map(([name, content]) => partOf(name, content))
  const side = carriedJson(carried)
  if (side) parts.push(partOf(carriedFile, side))
  const model: Model = { format: '', metadata: new Map(), tensors: tensors.map(withoutData), parts, files: [] }
  const translated = await toGguf(model, { format: '', outputType: outputTypeOf(metadata), signal })
  return translated!.model
}

function outputTypeOf(metadata: Metadata): OutputType | undefined {
  const number = numberAt(metadata, 'general.file_type')
  return (Object.keys(fileTypes) as OutputType[]).find((type) => fileTypes[type] === number)
}

/** All tensors as if they lay in one file. */
const withoutData = (tensor: Tensor): Tensor => ({
  ...tensor,
  data: lazyPayload(tensor.data!.byteLength, () =>
    failWith(writeCodes['layout-mismatch'], { file: '', path: tensor.name, message: 'no weights are needed here' }),
  ),
})
