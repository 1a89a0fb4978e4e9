// Decoded values for several passes: kept in memory if they are few, streamed again for each pass otherwise.
import { checkAborted, defaultWindow } from '../bytes/index.js'
import { type ViewType, viewOf } from '../bytes/views.js'
import { failWith, writeCodes } from '../errors/index.js'
import { type Payload, readPayload } from '../model/index.js'

export interface Values {
  /** All values, if they are kept. */
  readonly all?: Float32Array | Float64Array
  each(visit: (window: Float32Array | Float64Array) => void): Promise<void>
  /** Marks all passes as done, including those that turned out not to be needed. */
  finish(): void
}

interface ValuesOptions {
  readonly count: number
  /** The maximum number of passes, for progress. */
  readonly passes: number
  readonly signal: AbortSignal | undefined
  onProgress(done: number, total: number): void
}

/** Decoded values up to this size are kept between passes. */
const keptSize = 4 << 20

/** Values that need no decoding come straight from a file, where fewer and longer reads are faster. */
const storedWindow = 4 * defaultWindow

type FloatArrayType = ViewType<Float32Array | Float64Array>

export async function openValues(payload: Payload, type: FloatArrayType, options: ValuesOptions): Promise<Values> {
  const { count, signal, onProgress } = options
  const file = payload.origin?.source.name ?? 'payload'
  const size = count * type.BYTES_PER_ELEMENT
  const requireSize = (length: number): void => {
    if (length !== size)
      failWith(writeCodes['layout-mismatch'], { file, message: `${count} values take ${size} bytes, not ${length}` })
  }
  requireSize(payload.byteLength)
  const kept = size <= keptSize
  const total = kept ? size : size * options.passes
  let done = 0
  const advance = (bytes: number): void => {
    done += bytes
    onProgress(done, total)
  }
  const finish = (): void => {
    if (done < total) advance(total - done)
  }
  if (kept) {
    const all = viewOf(type, await readPayload(payload, signal), count)
    advance(size)
    return { all, each: async (visit) => visit(all), finish }
  }
  const each = async (visit: (window: Float32Array | Float64Array) => void): Promise<void> => {
    let seen = 0
    for await (const chunk of payload.chunks(payload.origin ? storedWindow : defaultWindow, signal)) {
      checkAborted(signal, file)
      seen += chunk.byteLength
      visit(viewOf(type, chunk, chunk.byteLength / type.BYTES_PER_ELEMENT))
      advance(chunk.byteLength)
    }
    requireSize(seen)
  }
  return { each, finish }
}
