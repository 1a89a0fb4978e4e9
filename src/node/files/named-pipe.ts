// Named pipes. Opening one waits for its other end, and reading and writing may block forever. Node performs file operations in threads,
// and a process cannot end before these return, whatever signal it gets. So pipes are opened without blocking and then used like sockets.
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The bytes of a pipe; they arrive once the other end is open. */
export function readPipe(path: string): Socket {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false })
}

/** Milliseconds between two attempts. */
const patience = 50

/** Waits until the pipe has a reader, which only an attempt to open it can tell. */
export async function writePipe(path: string): Promise<Socket> {
  for (;;) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
      return new Socket({ fd, readable: false, writable: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error
    }
    await sleep(patience)
  }
}
