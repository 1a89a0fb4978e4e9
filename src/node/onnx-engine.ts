// The engine for embeddings in Node. It is a large optional package, so it is loaded on demand.
import { defaultWindow } from '../bytes/index.js'
import { type EmbedEngine, embedCodes, type OnnxRuntime, onnxEngine, type WithModel } from '../embed/index.js'
import { failWith, TareError } from '../errors/index.js'
import { type Payload, readPayload } from '../model/index.js'
import { maxThreads } from '../threads/thread-pool.js'
import { openTemp, type TempFile } from './files/temp-files.js'

/** How onnxruntime-node computes. */
export interface NodeOnnxOptions {
  /** How many threads compute. Default: one per core. */
  readonly threads?: number | undefined
  /** Replaces `import('onnxruntime-node')`. */
  readonly load?: (() => Promise<OnnxRuntime>) | undefined
}

const packageName = 'onnxruntime-node'

/** onnxruntime-node as an engine; throws `embed/engine-missing` if the package is not installed. */
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
    session: threads === undefined ? {} : { intraOpNumThreads: Math.min(threads, maxThreads), interOpNumThreads: 1 },
    withModel,
  })
}

const loadRuntime = (): Promise<OnnxRuntime> => import('onnxruntime-node') as unknown as Promise<OnnxRuntime>

/** Encoders up to this size are passed in memory. */
const smallModel = 4 << 20

/**
 * In memory, the file would stay beside the copy that the runtime makes of it. From a path it is read piece by piece, and not needed again
 * once the session exists.
 */
const withModel: WithModel = async (onnx, use, signal) => {
  const file = onnx.byteLength > smallModel ? await writeTemp(onnx, signal) : undefined
  if (!file) return use(await readPayload(onnx, signal))
  try {
    return await use(file.path)
  } finally {
    await file.remove()
  }
}

/** A file with this content, or undefined if it cannot be created. */
async function writeTemp(content: Payload, signal: AbortSignal | undefined): Promise<TempFile | undefined> {
  const file = await openTemp('encoder.onnx').catch(() => undefined)
  if (!file) return undefined
  try {
    for await (const chunk of content.chunks(defaultWindow, signal)) await file.handle.writeFile(chunk)
    await file.handle.close()
    return file
  } catch (error) {
    await file.handle.close().catch(() => {})
    await file.remove()
    if (error instanceof TareError) throw error // the model could not be read
    return undefined
  }
}
