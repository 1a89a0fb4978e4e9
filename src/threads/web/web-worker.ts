// The entry of a Web Worker.
import { BlobSource, type ByteSource, type SourceHandle } from '../../bytes/index.js'
import type { Answer, Request } from '../messages.js'
import { serveJobs } from '../serve.js'
import { workerJobs } from '../worker-jobs.js'

/** The part of a worker's scope that is used here. */
interface Scope {
  postMessage(answer: Answer, moved?: ArrayBuffer[]): void
  addEventListener(type: 'message', listener: (event: { readonly data: Request }) => void): void
}

function openHandle(handle: SourceHandle): ByteSource {
  if (handle.kind === 'blob') return new BlobSource(handle.blob, handle.name)
  throw new Error('a browser has no files')
}

const scope = self as unknown as Scope
serveJobs(
  {
    post: (answer, moved) => scope.postMessage(answer, moved),
    listen: (take) => scope.addEventListener('message', ({ data }) => take(data)),
  },
  workerJobs,
  openHandle,
)
