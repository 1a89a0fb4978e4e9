// The entry of a worker thread.
import { parentPort } from 'node:worker_threads'
import { registerNodeBytes } from '../../node/bytes.js'
import { registerNodeDigests } from '../../node/digests.js'
import { serveJobs } from '../serve.js'
import { workerJobs } from '../worker-jobs.js'
import { openHandle } from './worker-source.js'

registerNodeDigests()
registerNodeBytes()

const port = parentPort!
serveJobs(
  { post: (answer, moved) => port.postMessage(answer, moved), listen: (take) => void port.on('message', take) },
  workerJobs,
  openHandle,
)
