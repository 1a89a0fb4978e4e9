// An engine takes an ONNX file and runs it. The ONNX runtimes for Node and for browsers share an interface; this is the part of it that is
// needed.
import { failWith } from '../errors/index.js'
import { type Payload, readPayload } from '../model/index.js'
import { embedCodes } from './codes.js'
import { graphInputs, graphOutputs } from './graph.js'

/** The ids and the mask of a batch, row by row. */
export interface Batch {
  readonly count: number
  readonly length: number
  readonly ids: BigInt64Array
  readonly mask: BigInt64Array
}

export interface EngineSession {
  /** One vector per row of the batch, one after the other. */
  run(batch: Batch): Promise<Float32Array>
  close(): Promise<void>
}

export interface EmbedEngine {
  readonly name: string
  /** The file is passed as a payload: it is as large as the weights, and an engine need not hold it in memory beside its own copy. */
  load(onnx: Payload, signal?: AbortSignal): Promise<EngineSession>
}

/** The part of onnxruntime-node and onnxruntime-web that is used. */
export interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: Uint8Array | string, options?: Record<string, unknown>): Promise<RuntimeSession>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => unknown
}

interface RuntimeSession {
  // biome-ignore lint/suspicious/noExplicitAny: the runtimes type their feeds by a class of their own
  run(feeds: any, fetches: any): Promise<Readonly<Record<string, { readonly data: unknown }>>>
  release?(): Promise<void>
}

export interface OnnxEngineOptions {
  readonly name?: string | undefined
  /** Passed to `InferenceSession.create`, e.g. `{ intraOpNumThreads: 1 }` or `{ executionProviders: ['webgpu'] }`. */
  readonly session?: Readonly<Record<string, unknown>> | undefined
  /** How the runtime gets the file while it creates a session: in memory by default, or as a path where it can read files. */
  readonly withModel?: WithModel | undefined
}

export type WithModel = <T>(
  onnx: Payload,
  use: (model: Uint8Array | string) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>

/** The whole file in memory, which every runtime accepts. */
const inMemory: WithModel = async (onnx, use, signal) => use(await readPayload(onnx, signal))

/** An engine that runs on the given module: `onnxEngine(await import('onnxruntime-web'))`. */
export function onnxEngine(runtime: OnnxRuntime, options: OnnxEngineOptions = {}): EmbedEngine {
  const { name = 'onnxruntime', withModel = inMemory } = options
  return {
    name,
    async load(onnx, signal) {
      // Otherwise the runtime keeps a memory pattern for every batch shape, and most shapes occur once.
      const settings = { logSeverityLevel: 3, enableMemPattern: false, ...options.session }
      const create = (model: Uint8Array | string) =>
        guarded(name, () => runtime.InferenceSession.create(model, settings))
      const session = await withModel(onnx, create, signal)
      return {
        async run({ count, length, ids, mask }) {
          const dims = [count, length]
          const feeds = {
            [graphInputs.ids]: new runtime.Tensor('int64', ids, dims),
            [graphInputs.mask]: new runtime.Tensor('int64', mask, dims),
          }
          const results = await guarded(name, () => session.run(feeds, [graphOutputs.sentence]))
          return results[graphOutputs.sentence]!.data as Float32Array
        },
        async close() {
          await session.release?.()
        },
      }
    },
  }
}

async function guarded<T>(name: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return failWith(embedCodes['engine-failed'], { file: name, message }, { cause: error })
  }
}
