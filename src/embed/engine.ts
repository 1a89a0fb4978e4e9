// What an engine does for us: take an ONNX file, then run it. The ONNX runtimes for Node and for browsers have the same interface, of
// which only this much is needed.
import { failWith } from '../errors/index.js'
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
  load(onnx: Uint8Array): Promise<EngineSession>
}

/** The part of onnxruntime-node and onnxruntime-web that is used. */
export interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: Uint8Array, options?: Record<string, unknown>): Promise<RuntimeSession>
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
  /** Handed to `InferenceSession.create`, e.g. `{ intraOpNumThreads: 1 }` or `{ executionProviders: ['webgpu'] }`. */
  readonly session?: Readonly<Record<string, unknown>> | undefined
}

/** An engine that runs on the given module: `onnxEngine(await import('onnxruntime-web'))`. */
export function onnxEngine(runtime: OnnxRuntime, options: OnnxEngineOptions = {}): EmbedEngine {
  const name = options.name ?? 'onnxruntime'
  return {
    name,
    async load(onnx) {
      const settings = { logSeverityLevel: 3, ...options.session }
      const session = await guarded(name, () => runtime.InferenceSession.create(onnx, settings))
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
