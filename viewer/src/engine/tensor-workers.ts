// Who reads a tensor: a tile worker where the tensor is a range of a file, the session worker where only the model knows its bytes.
import type { AskOptions } from './client.js'
import { WorkerClient } from './client.js'
import type { TensorRef } from './rooms/tensor/tensor.js'
import type { TileCalls } from './rooms/tensor/tiles.js'
import { ask } from './session.js'
import workerAddress from './tile-worker.ts?worker&url'
import { startWorker } from './trusted-address.js'
import { isLost } from './wire.js'

/**
 * A core is left to the page. More than two would not read more, since all reads go through one process of the browser, and each keeps up to 64 MB of
 * what it read until it is collected.
 */
const maxWorkers = (navigator.hardwareConcurrency ?? 2) > 2 ? 2 : 1

const workers: WorkerClient[] = []

/** The one with the least to do, and of equals the one that was asked longest ago; another is started when all of them are busy. */
function pickWorker(): WorkerClient {
  const best = workers.toSorted((a, b) => a.load - b.load)[0]
  if (!best || (best.load > 0 && workers.length < maxWorkers)) return startOne()
  workers.push(...workers.splice(workers.indexOf(best), 1))
  return best
}

/** Starting one takes as long as the first picture: it can be done before anybody asks. */
export function prepareTensorWorkers(): void {
  while (workers.length < maxWorkers) startOne()
}

function startOne(): WorkerClient {
  const worker = new WorkerClient(() => startWorker(workerAddress))
  workers.push(worker)
  return worker
}

/** Into how many parts a long question is cut, so that they are answered side by side. */
export const partsAtOnce = maxWorkers

/** Once more where the worker died: another question may have done that, and what this one does it does again. */
export async function askTensor<N extends keyof TileCalls>(
  name: N,
  question: TileCalls[N]['ask'] & { readonly tensor: TensorRef },
  options?: AskOptions,
): Promise<TileCalls[N]['answer']> {
  if (!question.tensor.place) return ask(name, question, options)
  const askOne = () => pickWorker().ask(name, question, options) as Promise<TileCalls[N]['answer']>
  try {
    return await askOne()
  } catch (error) {
    if (!isLost(error)) throw error
    return await askOne()
  }
}
