// Unpacking what was packed by deflate, as a stream. The platform does it; this feeds it piece by piece and gives it up when nobody asks any more.
import { TareError } from '../../errors/index.js'

/** `deflate-raw` is in zip archives, `deflate` has a header and a checksum around it (zlib). */
export type DeflateForm = 'deflate-raw' | 'deflate'

/** What comes out, in pieces of any size. `fail` is told what is wrong with the data. */
export async function* inflated(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  form: DeflateForm,
  fail: (message: string) => never,
): AsyncGenerator<Uint8Array, void, void> {
  const { readable, writable } = new DecompressionStream(form)
  const reader = readable.getReader()
  const writer = writable.getWriter()
  let inputError: unknown
  let isOver = false
  const feeding = feed().catch(() => {}) // what went wrong shows on the reading side
  async function feed(): Promise<void> {
    try {
      for await (const chunk of input) {
        if (isOver) return
        // A copy: the stream keeps what it is given, and the window is used again.
        await writer.write(chunk.slice() as Uint8Array<ArrayBuffer>)
      }
      await writer.close()
    } catch (error) {
      if (error instanceof TareError) inputError = error
      await writer.abort(error)
    }
  }
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      yield value
    }
  } catch (error) {
    if (inputError) throw inputError
    fail(`the compressed data are damaged: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    isOver = true
    reader.cancel().catch(() => {})
    writer.abort().catch(() => {})
    await feeding
  }
}
