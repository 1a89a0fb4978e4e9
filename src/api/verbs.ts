// The questions that one asks about a model, each in one call. They take what `openModel` takes, and most of them an open model as well.
import { type DiffOptions as DiffSettings, diffModels } from '../diff/diff.js'
import type { Difference } from '../diff/index.js'
import { type HashResult, type HashOptions as HashSettings, hashModel } from '../inspect/hash.js'
import { type Inspection, type InspectOptions as InspectSettings, inspectModel } from '../inspect/inspect.js'
import { type ModelStatsOptions, statsOfTensors } from '../inspect/model-stats.js'
import type { NoStats, TensorStats } from '../inspect/stats.js'
import { type ModelSummary, summarizeModel } from '../inspect/summary.js'
import type { Model } from '../model/index.js'
import { unpackModel } from '../packed/index.js'
import { selector } from '../transforms/select.js'
import { type VerifyResult, type VerifyOptions as VerifySettings, verifySource } from '../verify/verify.js'
import { type ModelInput, openSource } from './input.js'
import { type OpenModelOptions, withModel } from './open-model.js'

/** How `inspect` opens and shows a model. */
export interface InspectOptions extends InspectSettings, OpenModelOptions {}

/** What a model contains, and what kind of model it is. */
export interface ModelInspection extends Inspection {
  readonly summary: ModelSummary
}

/**
 * What a model contains, as plain JSON, with a summary: architecture, parameters, and the memory that it takes.
 *
 * @example
 * const { format, metadata, tensors, summary } = await inspect('model.gguf')
 * console.log(summary.architecture?.layers, summary.parameters, summary.kvCache?.bytes)
 */
export const inspect = (input: ModelInput | Model, options: InspectOptions = {}): Promise<ModelInspection> =>
  withModel(input, options, async (model) => ({
    ...inspectModel(model, options),
    summary: await summarizeModel(model, options.signal),
  }))

/** How `verify` opens and checks a model. */
export interface VerifyOptions extends Omit<VerifySettings, 'from'>, Omit<OpenModelOptions, 'onFinding'> {}

/**
 * Checks everything that can be checked: the structure, checksums, and values that must not occur. What is wrong with the file is in the
 * findings; only failures to read it are thrown.
 *
 * @example
 * const { verdict, findings } = await verify('model.gguf')
 */
export const verify = async (input: ModelInput, options: VerifyOptions = {}): Promise<VerifyResult> =>
  verifySource(await openSource(input, options), options)

/** How `hash` opens a model, and what it computes. */
export interface HashOptions extends HashSettings, OpenModelOptions {}

/**
 * Digests of all tensors, and a fingerprint of the model that does not depend on its container.
 *
 * @example
 * const { fingerprint } = await hash('model.safetensors')
 */
export const hash = (input: ModelInput | Model, options: HashOptions = {}): Promise<HashResult> =>
  withModel(input, options, (model) => hashModel(model, options))

/** How `stats` opens a model, and of which tensors it takes the statistics. */
export interface StatsOptions extends ModelStatsOptions, OpenModelOptions {
  /** Name patterns. Default: all tensors. */
  readonly only?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
}

/** The statistics of one tensor, or why there are none. */
export type NamedStats = { readonly name: string } & (TensorStats | NoStats)

/**
 * Range, mean, deviation, median and histogram of the tensors of a model. Weights that are packed in several tensors (GPTQ, AWQ and the
 * like) are decoded.
 *
 * @example
 * for (const { name, ...figures } of await stats('model.gguf', { only: ['*.weight'] })) console.log(name, figures)
 */
export const stats = (input: ModelInput | Model, options: StatsOptions = {}): Promise<readonly NamedStats[]> =>
  withModel(input, options, async (model) => {
    const isChosen = selector(options.only, options.exclude)
    const { tensors: all } = await unpackModel(model, undefined, options.signal)
    const tensors = all.filter(({ name }) => isChosen(name))
    const found: NamedStats[] = []
    for await (const each of statsOfTensors(tensors, options))
      found.push({ name: tensors[found.length]!.name, ...each })
    return found
  })

/** How `diff` opens and compares two models. */
export interface DiffOptions extends DiffSettings, Omit<OpenModelOptions, 'name' | 'siblings' | 'from'> {}

/**
 * How the second model differs from the first: structure, values, metadata and parts, whatever containers they are in.
 *
 * @example
 * const { equal, summary } = await diff('model.safetensors', 'model.gguf', { tolerance: 1e-3 })
 */
export const diff = (
  first: ModelInput | Model,
  second: ModelInput | Model,
  options: DiffOptions = {},
): Promise<Difference> => withModel(first, options, (a) => withModel(second, options, (b) => diffModels(a, b, options)))
