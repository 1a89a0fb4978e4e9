// The engine for embeddings in Node. It is an optional package of some size, so it is loaded only when somebody computes.
import { type EmbedEngine, embedCodes, type OnnxRuntime, onnxEngine } from '../embed/index.js'
import { failWith } from '../errors/index.js'

export interface NodeOnnxOptions {
  /** How many threads compute; default: one per core. */
  readonly threads?: number | undefined
  /** In place of `import('onnxruntime-node')`. */
  readonly load?: (() => Promise<OnnxRuntime>) | undefined
}

const packageName = 'onnxruntime-node'

/** onnxruntime-node as an engine; throws `embed/engine-missing` when the package is not installed. */
export async function nodeOnnxEngine(options: NodeOnnxOptions = {}): Promise<EmbedEngine> {
  const { threads, load = loadRuntime } = options
  let runtime: OnnxRuntime
  try {
    runtime = await load()
  } catch (error) {
    const code = (error as { readonly code?: string }).code
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    const why = isMissing ? 'it is not installed' : `it cannot be loaded: ${(error as Error).message}`
    const message = `computing embeddings needs the package ${packageName}, and ${why}; run \`npm install ${packageName}\``
    return failWith(embedCodes['engine-missing'], { file: packageName, message }, { cause: error })
  }
  return onnxEngine(runtime, {
    name: packageName,
    session: threads === undefined ? {} : { intraOpNumThreads: threads, interOpNumThreads: 1 },
  })
}

const loadRuntime = (): Promise<OnnxRuntime> => import('onnxruntime-node') as unknown as Promise<OnnxRuntime>
