// Packed bytes of any number, in one nameless temporary file.
import { type Spool, sliceOf } from '../../delta/index.js'
import { withIoErrors } from './io-error.js'
import { openTemp } from './temp-files.js'

export async function openSpool(directory?: string): Promise<Spool> {
  const { handle, path, remove } = await openTemp('delta', directory)
  if (process.platform !== 'win32') await remove()
  let size = 0
  const whole = {
    read: (offset: number, length: number): Promise<Uint8Array> =>
      withIoErrors(path, async () => {
        const bytes = new Uint8Array(length)
        for (let done = 0; done < length; ) {
          const { bytesRead } = await handle.read(bytes, done, length - done, offset + done)
          if (bytesRead === 0) throw new Error('the temporary file is shorter than what was written to it')
          done += bytesRead
        }
        return bytes
      }),
  }
  return {
    async add(pieces) {
      const start = size
      await withIoErrors(path, async () => {
        for await (const piece of pieces) {
          await handle.writev([piece], size)
          size += piece.byteLength
        }
      })
      return sliceOf(whole, start, size - start)
    },
    async close() {
      await handle.close().catch(() => {})
      await remove()
    },
  }
}
