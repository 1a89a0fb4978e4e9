// Models are read out of order, which pipes do not allow. Their content is spooled: in memory while it is small, in a nameless temporary
// file beyond that.
import { type ByteSource, checkAborted, joinBytes, MemorySource } from '../../bytes/index.js'
import { FileSource } from './file-source.js'
import { ioError } from './io-error.js'
import { openTemp, type TempFile } from './temp-files.js'

/** The maximum kept in memory before a temporary file is opened. */
const spoolMemory = 4 << 20

export interface SpoolOptions {
  readonly signal?: AbortSignal | undefined
  readonly memory?: number
  readonly directory?: string
}

/** Chunks from a pipe are small; this much is collected for one write. */
const gatherBytes = 1 << 20

/** Reads a stream to its end and returns it as a source. */
export async function spool(
  stream: AsyncIterable<Uint8Array>,
  name: string,
  options: SpoolOptions = {},
): Promise<ByteSource> {
  const { signal, memory = spoolMemory, directory } = options
  const kept: Uint8Array[] = []
  let size = 0 // of the spooled content
  let file: TempFile | undefined
  try {
    for await (const chunk of stream) {
      checkAborted(signal, name)
      kept.push(chunk)
      size += chunk.byteLength
      if (size <= (file ? gatherBytes : memory)) continue
      file ??= await openNameless(directory)
      await file.handle.writeFile(joinBytes(kept.splice(0)))
      size = 0
    }
    if (!file) return new MemorySource(joinBytes(kept), name)
    await file.handle.writeFile(joinBytes(kept))
    const source = await FileSource.fromHandle(file.handle, file.path, name)
    return withoutSiblings(source, file.remove)
  } catch (error) {
    await file?.handle.close().catch(() => {})
    await file?.remove()
    throw ioError(error, name)
  }
}

/** The same for a download. Connection errors pass through unchanged: they may be worth a retry. */
export async function spoolDownload(
  body: AsyncIterable<Uint8Array>,
  name: string,
  options: SpoolOptions,
): Promise<ByteSource> {
  let failure: { readonly error: unknown } | undefined
  async function* watched(): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* body
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  try {
    return await spool(watched(), name, options)
  } catch (error) {
    throw failure ? failure.error : error
  }
}

/** A file that is already unlinked where the system allows that, so that it cannot be left behind. */
async function openNameless(directory: string | undefined): Promise<TempFile> {
  const file = await openTemp('input', directory)
  if (process.platform !== 'win32') await file.remove()
  return file
}

/** The content of a pipe has no siblings. */
function withoutSiblings(source: FileSource, remove: () => Promise<void>): ByteSource {
  return {
    name: source.name,
    size: source.size,
    get handle() {
      return source.handle
    },
    read: (offset, length, options) => source.read(offset, length, options),
    readInto: (offset, target, options) => source.readInto(offset, target, options),
    close: () => source.close().finally(remove),
  }
}
