// Opening a model, and what comes of it: an index that finds tensors by name and has a lifetime.
import type { ByteSource } from '../bytes/index.js'
import { refuseName } from '../convert/extract/nearest-names.js'
import type { FormatId, OpenOptions } from '../formats/index.js'
import type { Metadata } from '../model/metadata.js'
import { closeModel, type Model, type Part, type Tensor } from '../model/model.js'
import { type InputOptions, type ModelInput, openSource } from './input.js'

/** How a model is opened. */
export interface OpenModelOptions extends Omit<OpenOptions, 'from'>, InputOptions {
  /** The format, when the bytes should not decide. */
  readonly from?: FormatId | undefined
}

/**
 * An open model: names, types, shapes and where the bytes are. It holds no tensor data; `readTensor` reads it. Close it when you are done,
 * or let `await using` do that.
 */
export class OpenModel implements Model {
  declare readonly format: FormatId
  declare readonly version: Model['version']
  declare readonly variant: Model['variant']
  declare readonly origin: Model['origin']
  declare readonly metadata: Metadata
  declare readonly tensors: readonly Tensor[]
  declare readonly parts: readonly Part[]
  declare readonly files: Model['files']
  declare readonly damageFinders: Model['damageFinders']
  declare readonly flaws: Model['flaws']
  /** What the model was opened from. */
  readonly source: ByteSource
  #byName: Map<string, Tensor> | undefined
  #closing: Promise<void> | undefined

  /** Use `openModel`. */
  constructor(model: Model, source: ByteSource) {
    Object.assign(this, model)
    this.source = source
  }

  /** The tensor with this name; a TareError `usage/no-such-tensor` with the nearest names if there is none. */
  tensor(name: string): Tensor {
    // Of two tensors with one name, which some formats allow, the first counts.
    this.#byName ??= new Map(this.tensors.toReversed().map((tensor) => [tensor.name, tensor]))
    return this.#byName.get(name) ?? refuseName(this, name)
  }

  /** Closes all files of the model. It can be called more than once. */
  close(): Promise<void> {
    this.#closing ??= closeModel(this)
    return this.#closing
  }

  /** The same as `close`, for `await using`. */
  declare [Symbol.asyncDispose]: () => Promise<void>

  static {
    // Engines without it have no `await using` either.
    const dispose: symbol | undefined = Symbol.asyncDispose
    if (dispose) {
      const value = function (this: OpenModel): Promise<void> {
        return this.close()
      }
      Object.defineProperty(OpenModel.prototype, dispose, { value, configurable: true, writable: true })
    }
  }
}

/**
 * Opens a model and reads its index; the weights stay where they are.
 *
 * @example
 * await using model = await openModel('model.gguf')
 * for (const { name, dtype, shape } of model.tensors) console.log(name, dtype.id, shape)
 */
export async function openModel(input: ModelInput, options: OpenModelOptions = {}): Promise<OpenModel> {
  // With the first model: a page that may open one starts without the formats.
  const { openModel: readModel } = await import('../formats/open.js')
  const source = await openSource(input, options)
  try {
    return new OpenModel(await readModel(source, options), source)
  } catch (error) {
    // A source of the caller's own stays open.
    if (source !== input) await source.close()
    throw error
  }
}

/** Runs `work` with a model that is open already, or that is opened from an input for as long as it takes. */
export async function withModel<T>(
  input: ModelInput | Model,
  options: OpenModelOptions,
  work: (model: Model) => Promise<T>,
): Promise<T> {
  if (isModel(input)) return work(input)
  const model = await openModel(input, options)
  try {
    return await work(model)
  } finally {
    await model.close()
  }
}

export const isModel = (input: ModelInput | Model): input is Model =>
  typeof input === 'object' && 'tensors' in input && 'metadata' in input
