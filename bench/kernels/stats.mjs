// Statistics of f32 values against a copy of the same values in the same process. Prints JSON.
//   kernels COUNT  both passes over two windows by turns, as those of files are
//   file PATH      every tensor of a file, one after the other, on one thread
import { takeWindow } from '../../dist/bytes/index.js'
import { tensorStats } from '../../dist/inspect/stats.js'
import * as stats from '../../dist/kernels/numbers/stats/index.js'
import { closeModel, openInput, openModel } from '../../dist/kit-node.js'
import { alignedBytes, fillNormal } from '../builders/normal.mjs'
import { answer, race } from '../harness/measure.mjs'

const [work, argument] = process.argv.slice(2)
const result = work === 'kernels' ? await kernels(Number(argument)) : await file(argument)
answer(result)

async function kernels(count) {
  const windowCount = 1 << 20
  const windows = Array.from({ length: 2 }, (_, i) => {
    const bytes = takeWindow(windowCount * 4)
    return fillNormal(new Float32Array(bytes.buffer, bytes.byteOffset, windowCount), i + 1, 0.02)
  })
  const rounds = count / windowCount
  const [from, to] = [alignedBytes(count * 4).fill(1), alignedBytes(count * 4)]
  const pass = (add, state) => {
    for (let i = 0; i < rounds; i++) add(state, windows[i % windows.length])
  }
  const tare = async () => {
    const summary = stats.createSummary('f32')
    pass(stats.summarize, summary)
    const bins = stats.equalBins(stats.minOf(summary), stats.maxOf(summary), 10)
    const detail = stats.createDetail(summary, stats.meanOf(summary), bins, stats.middleRanks(summary))
    pass(stats.addDetail, detail)
    stats.releaseCounters(summary, detail)
  }
  return { ...(await race(tare, async () => to.set(from), 15)), bytes: count * 4 }
}

async function file(path) {
  const model = await openModel(await openInput(path))
  const bytes = model.tensors.reduce((sum, { data }) => sum + data.byteLength, 0)
  const tare = async () => {
    for (const tensor of model.tensors) await tensorStats(tensor)
  }
  let [from, to] = []
  const memcpy = async () => {
    from ??= alignedBytes(1 << 26).fill(1)
    to ??= alignedBytes(1 << 26)
    for (let done = 0; done < bytes; done += from.byteLength) to.set(from)
  }
  const times = await race(tare, memcpy, 10)
  await closeModel(model)
  return { ...times, bytes }
}
