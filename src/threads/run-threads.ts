// Threads are chosen when a plan runs, not when it is made. What is planned holds on to this, and looks at it when its bytes are wanted.
import type { WorkerPool } from './job.js'

export interface RunThreads {
  pool?: WorkerPool | undefined
}
