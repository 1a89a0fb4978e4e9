// Reads a file from the system's memory and does nothing else, on one thread and on two, turn by turn. Prints the best time of each: what a
// second thread can gain on this machine where the memory is the limit.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { answer, race } from '../harness/measure.mjs'

// Starts on a page: reading to anywhere else takes several times as long.
const window = new Uint8Array(new WebAssembly.Memory({ initial: 16 }).buffer)

function read(file, { part, parts }) {
  const descriptor = openSync(file)
  const step = Math.ceil(fstatSync(descriptor).size / parts)
  for (let done = 0; done < step; done += window.byteLength) {
    const length = Math.min(window.byteLength, step - done)
    readSync(descriptor, window, 0, length, part * step + done)
  }
  closeSync(descriptor)
}

if (isMainThread) {
  const file = process.argv[2]
  const worker = new Worker(new URL(import.meta.url), { workerData: file })
  const next = () => new Promise((resolve) => worker.once('message', resolve))
  const two = async () => {
    const other = next()
    worker.postMessage({ part: 1, parts: 2 })
    read(file, { part: 0, parts: 2 })
    await other
  }
  answer(await race(two, async () => read(file, { part: 0, parts: 1 })))
  await worker.terminate()
} else {
  parentPort.on('message', (share) => {
    read(workerData, share)
    parentPort.postMessage('done')
  })
}
