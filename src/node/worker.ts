// What a worker thread runs.
import { parentPort } from 'node:worker_threads'
import { serveJobs } from '../pool/serve.js'
import { workerJobs } from '../workers/kinds.js'
import { registerNodeBytes } from './bytes.js'
import { registerNodeDigests } from './digests.js'
import { openHandle } from './worker-source.js'

registerNodeDigests()
registerNodeBytes()

const port = parentPort!
serveJobs(
  { post: (answer, moved) => port.postMessage(answer, moved), listen: (take) => void port.on('message', take) },
  workerJobs,
  openHandle,
)
