// A run of a job on many workers as a sequence of events, in seconds. Workers differ in speed, tasks come through a queue that serves one request at
// a time, or are shared out beforehand. Nothing in it is random, unless a caller draws speeds.

/**
 * Workers take tasks one by one, in this order. `tasks` are the seconds that each takes a worker of speed 1, `serve` what the queue is busy for each,
 * `submit` how long handing out each takes, from 0 on, `start` when workers first ask.
 */
export function simulateQueue(tasks, speeds, { start = 0, serve = 0, submit = 0 } = {}) {
  const waiting = new Agenda(speeds.map((_, worker) => ({ at: start, worker })))
  const ends = []
  const busy = new Float64Array(speeds.length)
  let queueFree = start
  for (const [i, seconds] of tasks.entries()) {
    const { at, worker } = waiting.first
    const taken = Math.max(at, queueFree, (i + 1) * submit) + serve
    queueFree = taken
    const took = seconds / speeds[worker]
    busy[worker] += took
    ends.push(taken + took)
    waiting.moveFirst(taken + took)
  }
  return summarize(ends, busy, start)
}

/** Each worker has a list of tasks of its own. */
export function simulateShares(shares, speeds, { start = 0 } = {}) {
  const ends = []
  const busy = new Float64Array(speeds.length)
  for (const [worker, tasks] of shares.entries())
    for (const seconds of tasks) {
      busy[worker] += seconds / speeds[worker]
      ends.push(start + busy[worker])
    }
  return summarize(ends, busy, start)
}

function summarize(ends, busy, start) {
  const sorted = Float64Array.from(ends).sort()
  const most = busy.reduce((a, b) => Math.max(a, b), 0)
  const mean = busy.reduce((a, b) => a + b, 0) / busy.length
  return { end: sorted.at(-1) ?? start, ends: sorted, imbalance: mean > 0 ? most / mean : 1 }
}

/** What looking for results costs until all are there, in seconds: every look lists those that there are. */
export function costOfLooking(ends, { start, pause, perResult }) {
  let [at, done, cost] = [start, 0, 0]
  for (;;) {
    while (done < ends.length && ends[done] <= at) done++
    cost += done * perResult
    at += done * perResult
    if (done === ends.length) return { cost, end: at }
    at += pause
  }
}

/** Events by their time: a binary heap. */
class Agenda {
  #events

  constructor(events) {
    this.#events = events.sort((a, b) => a.at - b.at)
  }

  get first() {
    return this.#events[0]
  }

  /** The first event happens again at a later time. */
  moveFirst(at) {
    const events = this.#events
    const moved = events[0]
    moved.at = at
    let i = 0
    for (;;) {
      const left = 2 * i + 1
      const next = left + 1 < events.length && events[left + 1].at < events[left].at ? left + 1 : left
      if (next >= events.length || events[next].at >= at) break
      events[i] = events[next]
      i = next
    }
    events[i] = moved
  }
}
