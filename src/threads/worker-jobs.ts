// All handlers of worker threads. Code for some kinds of jobs is loaded with the first of them, so that threads that only hash start
// quickly.
import { type JobHandler, jobKinds } from './index.js'

const loaded =
  (load: () => Promise<JobHandler>): JobHandler =>
  async (data, window, context) =>
    (await load())(data, window, context)

const transform = (kind: string): JobHandler =>
  loaded(async () => {
    const [{ transformJobs }, { makePacked }] = await Promise.all([
      import('../transforms/jobs.js'),
      import('../packed/index.js'),
    ])
    return transformJobs({ packed: makePacked })[kind]!
  })

export const workerJobs: Readonly<Record<string, JobHandler>> = {
  ...jobKinds,
  slice: transform('slice'),
  quantize: transform('quantize'),
  range: transform('range'),
  compare: loaded(async () => (await import('../diff/compare-ranges.js')).compareInWorker),
  values: loaded(async () => (await import('../diff/compare-values.js')).compareInWorker),
  payload: loaded(async () => (await import('../inspect/digest-payloads.js')).digestInWorker),
  measure: loaded(async () => (await import('../convert/allocate/measure.js')).measureInWorker),
  stats: loaded(async () => (await import('../inspect/model-stats.js')).measureInWorker),
}
