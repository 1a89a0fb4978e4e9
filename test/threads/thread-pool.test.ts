import { afterEach, describe, expect, it, vi } from 'vitest'
import { ioCodes, TareError } from '../../src/errors/index.js'
import { type Job, type JobHandler, poolCodes, runInOrder, runShared, ThreadPool } from '../../src/threads/index.js'
import { takeSharedWindow } from '../../src/threads/shared-window.js'
import { fakePool } from './fake-threads.js'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const kinds: Record<string, JobHandler> = {
  /** Takes its time, which is less the later it was requested. */
  slow: async (data) => {
    await sleep(data as number)
    return data
  },
  fails: async () => {
    throw new TareError({ code: 'x/y', severity: 'error', file: 'f', offset: 7, path: 'p', message: 'wrong' })
  },
  breaks: async () => {
    throw new RangeError('our mistake')
  },
  /** Goes on until it is cancelled. */
  endless: async (_, __, { signal, advance }) => {
    for (let i = 0; i < 10_000 && !signal.aborted; i++) {
      advance(1 << 20)
      await sleep(1)
    }
    return 'stopped'
  },
  invert: async (_, window) => {
    for (const [i, byte] of window!.entries()) window![i] = 255 - byte
    return window!.byteLength
  },
}

const job = (kind: string, data: unknown = 0, window?: Uint8Array): Job => ({
  kind,
  data,
  window,
  file: 'model.bin',
  offset: 96,
})

const failureOf = async (promise: Promise<unknown>): Promise<TareError> => {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(TareError)
  return error as TareError
}

it('has no more threads than a machine could use, whatever was requested', async () => {
  const pool = fakePool(99_999_999_999, kinds)
  expect(pool.threads).toBeLessThanOrEqual(1024)
  const work = { count: 3, job: (place: number) => job('slow', place), here: async (place: number) => place }
  expect(await runShared(pool, work)).toEqual([0, 1, 2])
  expect(pool.started()).toBeLessThan(3)
  await pool.close()
})

describe('jobs', () => {
  it.each([1, 2, 3])('give their results in order on %i threads', async (threads) => {
    const pool = fakePool(threads, kinds)
    const times = [9, 5, 1, 7, 3, 0, 2]
    const here = async (place: number): Promise<unknown> => times[place]
    const shared = { count: times.length, job: (place: number) => job('slow', times[place]), here }
    expect(await runShared(pool, shared)).toEqual(times)
    expect(pool.started()).toBe(threads - 1)
    const inTurn: unknown[] = []
    for await (const result of runInOrder(
      pool,
      times.map((time) => job('slow', time)),
    ))
      inTurn.push(result)
    expect(inTurn).toEqual(times)
    expect(pool.started()).toBe(threads)
    await pool.close()
  })

  it('start threads only when there is work for them, and let the process end', async () => {
    const pool = fakePool(4, kinds)
    expect(pool.started()).toBe(0)
    await pool.run(job('slow', 1))
    await pool.run(job('slow', 1))
    expect([pool.started(), pool.held()]).toEqual([1, 0])
    const running = pool.run(job('slow', 5))
    expect(pool.held()).toBe(1)
    await running
    await pool.close()
    expect(pool.ended()).toBe(1)
  })

  it('are asked for only when a thread will soon be free', async () => {
    const pool = fakePool(2, kinds)
    let made = 0
    function* jobs(): Generator<Job> {
      for (let i = 0; i < 20; i++) {
        made++
        yield job('slow', 1)
      }
    }
    let taken = 0
    for await (const _ of runInOrder(pool, jobs())) {
      taken++
      expect(made - taken).toBeLessThanOrEqual(pool.threads)
      await sleep(2)
    }
    expect([made, taken]).toEqual([20, 20])
    await pool.close()
  })

  it('work on memory that both sides see', async () => {
    const pool = fakePool(1, kinds)
    const window = takeSharedWindow(100_000)
    expect([window.byteLength, window.byteOffset, window.buffer.constructor.name]).toEqual([
      100_000,
      0,
      'SharedArrayBuffer',
    ])
    window.fill(3)
    expect(await pool.run(job('invert', 0, window.subarray(10, 20)))).toBe(10)
    expect([...window.subarray(8, 22)]).toEqual([3, 3, ...Array(10).fill(252), 3, 3])
    await pool.close()
  })

  it('tell how far they are', async () => {
    const pool = fakePool(1, { go: async (_, __, { advance }) => [5e6, 5e6, 5e6].forEach(advance) })
    let told = 0
    await pool.run(job('go'), { onAdvance: (bytes) => (told += bytes) })
    expect(told).toBe(15e6)
    await pool.close()
  })
})

describe('errors', () => {
  it('arrive with code, offset and file', async () => {
    const pool = fakePool(1, kinds)
    expect((await failureOf(pool.run(job('fails')))).finding).toEqual({
      code: 'x/y',
      severity: 'error',
      file: 'f',
      offset: 7,
      path: 'p',
      message: 'wrong',
    })
    const ours = (await failureOf(pool.run(job('breaks')))).finding
    expect(ours).toMatchObject({ code: poolCodes.failed.code, file: 'model.bin', offset: 96, path: 'breaks' })
    expect(ours.message).toContain('our mistake')
    expect((await failureOf(pool.run(job('toString')))).code).toBe(poolCodes.failed.code)
    expect(await pool.run(job('slow', 1))).toBe(1)
    await pool.close()
  })

  it('of one job cancel the others', async () => {
    const pool = fakePool(2, kinds)
    const started = performance.now()
    const list = [job('endless'), job('fails')]
    const here = async (place: number): Promise<unknown> => pool.run(list[place]!)
    expect((await failureOf(runShared(pool, { count: 2, job: (place) => list[place]!, here }))).code).toBe('x/y')
    const failing = async (): Promise<never> => {
      throw new TareError({ code: 'x/y', severity: 'error', file: 'f', message: 'wrong' })
    }
    expect((await failureOf(runShared(pool, { count: 3, job: () => job('endless'), here: failing }))).code).toBe('x/y')
    const results = runInOrder(pool, [job('slow', 1), job('fails'), job('endless')])
    expect((await results.next()).value).toBe(1)
    expect((await failureOf(results.next())).code).toBe('x/y')
    expect(performance.now() - started).toBeLessThan(5000)
    expect(pool.held()).toBe(0)
    await pool.close()
  })

  it('a worker that dies is one, and the others go on', async () => {
    const pool = fakePool(2, kinds)
    const first = pool.run(job('endless'))
    const second = pool.run(job('slow', 20))
    const waiting = pool.run(job('slow', 3))
    await sleep(5)
    pool.kill('out of memory')
    const { finding } = await failureOf(first)
    expect(finding).toMatchObject({
      code: poolCodes['worker-died'].code,
      file: 'model.bin',
      offset: 96,
      message: 'out of memory',
    })
    expect([await second, await waiting]).toEqual([20, 3])
    expect(pool.started()).toBe(3)
    await pool.close()
  })
})

it('a thread that cannot be started is an error', async () => {
  const pool = new ThreadPool(2, 0, () => {
    throw new Error('too many threads')
  })
  const failures = [failureOf(pool.run(job('slow'))), failureOf(pool.run(job('slow')))]
  for (const { finding } of await Promise.all(failures)) {
    expect(finding).toMatchObject({ code: poolCodes['worker-died'].code, message: expect.stringContaining('too many') })
  }
  await pool.close()
})

describe('a job that waits for its caller', () => {
  it('has a thread beside the others, so that they go on', async () => {
    const pool = fakePool(1, kinds)
    const controller = new AbortController()
    const apart = failureOf(pool.runApart(job('endless'), { signal: controller.signal }))
    expect(await Promise.all([pool.run(job('slow', 2)), pool.run(job('slow', 1))])).toEqual([2, 1])
    expect(pool.started()).toBe(2)
    controller.abort()
    expect((await apart).code).toBe(ioCodes.aborted.code)
    expect(await pool.runApart(job('slow', 1))).toBe(1)
    expect(pool.started()).toBe(2)
    await pool.close()
    expect((await failureOf(pool.runApart(job('slow', 1)))).code).toBe(poolCodes.closed.code)
  })
})

describe('ending', () => {
  afterEach(() => vi.unstubAllGlobals())

  it.each([true, false])('cancels what runs and what waits (shared memory: %s)', async (isShared) => {
    if (!isShared) vi.stubGlobal('SharedArrayBuffer', undefined)
    const pool = fakePool(1, kinds)
    const controller = new AbortController()
    const running = failureOf(pool.run(job('endless'), { signal: controller.signal }))
    const waiting = failureOf(pool.run(job('slow', 1), { signal: controller.signal }))
    const other = pool.run(job('slow', 4))
    await sleep(5)
    controller.abort('enough')
    for (const error of [await running, await waiting]) {
      expect([error.code, error.cause, error.finding.file]).toEqual([ioCodes.aborted.code, 'enough', 'model.bin'])
    }
    expect(await other).toBe(4)
    expect(pool.ended()).toBe(isShared ? 0 : 1)
    expect((await failureOf(pool.run(job('slow', 1), { signal: controller.signal }))).code).toBe(ioCodes.aborted.code)
    await pool.close()
  })

  it('by a consumer that has seen enough', async () => {
    const pool = fakePool(2, kinds)
    for await (const result of runInOrder(pool, [job('slow', 2), job('endless'), job('endless')])) {
      expect(result).toBe(2)
      break
    }
    expect(pool.held()).toBe(0)
    await pool.close()
  })

  it('by closing fails what is not done', async () => {
    const pool = fakePool(1, kinds)
    const jobs = [failureOf(pool.run(job('endless'))), failureOf(pool.run(job('slow', 1)))]
    await pool.close()
    for (const error of await Promise.all(jobs)) expect(error.code).toBe(poolCodes.closed.code)
    expect((await failureOf(pool.run(job('slow', 1)))).code).toBe(poolCodes.closed.code)
  })
})

describe('threads that are started ahead of their work', () => {
  it('are all but one, and take the first jobs', async () => {
    const pool = fakePool(3, kinds)
    pool.prepare()
    pool.prepare()
    expect(pool.started()).toBe(2)
    expect(await Promise.all([1, 2].map((ms) => pool.run(job('slow', ms))))).toEqual([1, 2])
    expect(pool.started()).toBe(2)
    await pool.close()
    pool.prepare()
    expect(pool.started()).toBe(2)
  })

  it('cost little once they are there, each kind by itself', async () => {
    const pool = fakePool(3, kinds, 40e6)
    pool.prepare()
    expect(pool.startCost).toBe(40e6)
    await sleep(1)
    expect(pool.startCost).toBeLessThan(4e6)
    expect(pool.apartCost).toBe(40e6)
    await pool.runApart(job('slow', 1))
    expect(pool.apartCost).toBeLessThan(4e6)
    pool.kill('crash')
    expect(pool.startCost).toBe(40e6)
    await pool.close()
  })

  it('cannot be had: whoever has work hears of it', async () => {
    const pool = new ThreadPool(2, 0, () => {
      throw new Error('too many')
    })
    pool.prepare()
    expect((await failureOf(pool.run(job('slow')))).code).toBe(poolCodes['worker-died'].code)
  })
})
