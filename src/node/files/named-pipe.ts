// Named pipes. Opening one waits for its other end, and reading and writing may wait for ever, too. Files are waited for in threads of the
// system, and no process ends before these do, whatever signal it gets. So pipes are opened without waiting and then watched like sockets.
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Its bytes; they begin to come when somebody has opened the other end. */
export function readPipe(path: string): Socket {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false })
}

/** Milliseconds between two looks. */
const patience = 50

/** Waits until somebody reads: the system tells only those who try. */
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
