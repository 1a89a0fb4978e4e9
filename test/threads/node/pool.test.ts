// Real threads. Those of tare need compiled sources, which run in a process of their own; what a pool makes of threads that misbehave is
// tried with small programs.
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { TareError } from '../../../src/errors/index.js'
import { poolCodes, ThreadPool } from '../../../src/threads/index.js'
import { openPool, startWorker, workerUrl } from '../../../src/threads/node/pool.js'
import { useCompiled } from '../../cli/compiled.js'
import { useTempDir } from '../../node/temp-dir.js'

const at = useTempDir()
const compiled = useCompiled()

/** Runs a program against the compiled library and gives back what it printed as JSON. */
function runCompiled(program: string): unknown {
  const file = at('program.mjs')
  const places = ['kit-node.js', 'threads/index.js', 'threads/kinds.js'].map(
    (name) => pathToFileURL(compiled(name)).href,
  )
  writeFileSync(
    file,
    `const [tare, pools, kinds] = await Promise.all(${JSON.stringify(places)}.map((place) => import(place)))\n${program}`,
  )
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, at()], { encoding: 'utf8', timeout: 30_000 })
  expect([status, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

describe('digests on threads', () => {
  test('do not depend on their number, and the process ends by itself', () => {
    writeFileSync(
      at('a.bin'),
      Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * i * 31) >>> 7),
    )
    const results = runCompiled(`
      const results = []
      for (const threads of [1, 2, 3]) {
        const pool = tare.openPool({ threads })
        const source = await tare.FileSource.open(process.argv[2] + '/a.bin', 'a.bin')
        const wanted = []
        for (let i = 0; i < 40; i++) {
          const algorithm = ['blake3', 'sha256', 'crc32'][i % 3]
          wanted.push({ start: i * 60_000, end: i * 60_000 + (i % 7) * 90_000, algorithm })
        }
        const digest = await pools.digestRanges(source, wanted, { pool, costs: { start: 0, read: 0 } })
        results.push(wanted.map((_, i) => Buffer.from(digest(i)).toString('hex')))
        await source.close()
      }
      console.log(JSON.stringify(results))
    `) as string[][]
    expect(results[0]!.length).toBe(40)
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
  })

  test('that never come leave the threads that were started for them, and the process ends all the same', () => {
    const result = runCompiled(`
      const pool = tare.openPool({ threads: 3 })
      pool.prepare()
      // Until they have started: a thread that is still starting would be cut short.
      await new Promise((resolve) => setTimeout(resolve, 500))
      console.log(JSON.stringify('done'))
    `)
    expect(result).toBe('done')
  })

  test('say where they failed, and can be cancelled', () => {
    writeFileSync(at('a.bin'), new Uint8Array(200_000))
    const result = runCompiled(`
      import { truncateSync } from 'node:fs'
      const pool = tare.openPool({ threads: 2 })
      const source = await tare.FileSource.open(process.argv[2] + '/a.bin', 'a.bin')
      const job = kinds.digestJob(source.handle, [{ start: 100_000, end: 200_000, algorithm: 'blake3' }])
      const worked = (await pool.run(job)).byteLength
      truncateSync(process.argv[2] + '/a.bin', 150_000)
      const failed = await pool.run(job).catch((error) => error)
      truncateSync(process.argv[2] + '/a.bin', 2 ** 36)
      const long = await tare.FileSource.open(process.argv[2] + '/a.bin')
      const controller = new AbortController()
      const endless = kinds.digestJob(long.handle, [{ start: 0, end: long.size, algorithm: 'sha256' }])
      const running = pool.run(endless, { signal: controller.signal }).catch((error) => error)
      setTimeout(() => controller.abort(), 100)
      const cancelled = await running
      await pool.close()
      console.log(JSON.stringify({ worked, failed: failed.finding, cancelled: cancelled.finding.code, isOurs: failed instanceof tare.TareError }))
    `)
    expect(result).toMatchObject({
      worked: 32,
      failed: { code: 'io/short-read', file: 'a.bin', offset: 100_000 },
      cancelled: 'io/aborted',
      isOurs: true,
    })
  })

  test('the command gives the same on one, two and three threads', () => {
    // The bytes take no room on disk; there are enough of them for threads to be worth it.
    const each = 64 << 20
    const count = 4
    const entries = Array.from({ length: count }, (_, i) => [
      `t${i}`,
      { dtype: 'U8', shape: [each], data_offsets: [i * each, (i + 1) * each] },
    ])
    const text = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
    const head = Buffer.alloc(8)
    head.writeBigUInt64LE(BigInt(text.length))
    const file = openSync(at('m.safetensors'), 'w')
    writeSync(file, Buffer.concat([head, text]))
    ftruncateSync(file, 8 + text.length + count * each)
    for (let i = 0; i < count; i++) writeSync(file, Buffer.from(`tensor ${i}`), 0, 8, 8 + text.length + i * each + 100)
    closeSync(file)
    const outputs = [1, 2, 3].map((threads) => {
      const args = [
        compiled('cli/main.js'),
        'hash',
        '--algorithm',
        'sha256',
        '--threads',
        String(threads),
        at('m.safetensors'),
      ]
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
      return stdout
    })
    expect(new Set(outputs[0]!.match(/^[0-9a-f]{64}/gm)).size).toBe(count)
    expect(outputs[1]).toBe(outputs[0])
    expect(outputs[2]).toBe(outputs[0])
  })
})

describe('a stream that other threads hash', () => {
  test('gives what this thread gives, whatever the pieces', () => {
    const result = runCompiled(`
      const bytes = Uint8Array.from({ length: 20_000_000 }, (_, i) => (i * i * 31) >>> 7)
      const track = (algorithm, ranges) => ({
        algorithm,
        starts: Float64Array.from(ranges, ([start]) => start),
        ends: Float64Array.from(ranges, ([, end]) => end),
      })
      const many = Array.from({ length: 500 }, (_, i) => [i * 40_000 + 3, i * 40_000 + 3 + (i % 9) * 4_000])
      const tracks = [
        track('blake3', [[0, bytes.length]]),
        track('sha256', [[5, 5], [5, 7_000_000], [7_000_000, 19_999_999], [20_000_000, 20_000_000]]),
        track('blake3', many),
      ]
      const pool = Object.defineProperty(tare.openPool({ threads: 2 }), 'apartCost', { value: 0 })
      const results = []
      for (const [own, step] of [[undefined, 1 << 20], [pool, 1 << 20], [pool, 3_333_333], [pool, 77_777]]) {
        const stream = pools.digestStream(tracks, { pool: own, length: bytes.length, file: 'x' })
        for (let at = 0; at < bytes.length; at += step) await stream.update(bytes.subarray(at, at + step))
        results.push((await stream.finish()).map((digests) => Buffer.from(digests).toString('base64')))
      }
      // The end is told while bytes still wait for room.
      const hasty = pools.digestStream(tracks, { pool, length: bytes.length, file: 'x' })
      const waits = hasty.update(bytes)
      results.push((await hasty.finish()).map((digests) => Buffer.from(digests).toString('base64')))
      const hadToWait = waits instanceof Promise
      // Long ranges are read to where the threads look, short ones are copied there.
      const { writeFileSync } = await import('node:fs')
      writeFileSync(process.argv[2] + '/stream.bin', bytes)
      const source = await tare.FileSource.open(process.argv[2] + '/stream.bin')
      const mixed = pools.digestStream(tracks, { pool, length: bytes.length, file: 'x' })
      const lengths = [2_500_000, 99, 1 << 20, 700_000, (1 << 20) + 1]
      let streamed = 0
      let isSame = true
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const length = Math.min(lengths[i % lengths.length], bytes.length - at)
        const chunks = mixed.stream({ source, offset: at, length }, 1 << 20)
        if (!chunks) await mixed.update(bytes.subarray(at, at + length))
        else for await (const chunk of chunks) {
          isSame &&= Buffer.compare(chunk, bytes.subarray(at + streamed, at + streamed + chunk.length)) === 0
          streamed += chunk.length
        }
        isSame &&= streamed === (chunks ? length : 0)
        streamed = 0
        at += length
      }
      results.push((await mixed.finish()).map((digests) => Buffer.from(digests).toString('base64')))
      await source.close()
      const given = pools.digestStream(tracks, { pool, length: bytes.length, file: 'x' })
      await given.update(bytes.subarray(0, 5_000_000))
      given.abort()
      const aborted = await given.finish().catch((error) => error.finding.code)
      await pool.close()
      console.log(JSON.stringify({ results, aborted, isSame, hadToWait }))
    `) as { results: string[][]; aborted: string; isSame: boolean; hadToWait: boolean }
    expect(result.results[0]!.length).toBe(3)
    expect(result.isSame).toBe(true)
    expect(result.hadToWait).toBe(true)
    for (const other of result.results.slice(1)) expect(other).toEqual(result.results[0])
    expect(result.aborted).toBe('io/aborted')
  })

  test('a file whose index lists hashes is the same on one thread and on several', () => {
    const result = runCompiled(`
      const file = process.argv[2] + '/m.safetensors'
      const eager = (pool) => Object.defineProperties(pool, { startCost: { value: 0 }, apartCost: { value: 0 } })
      const tensors = Array.from({ length: 9 }, (_, i) => {
        const values = Float32Array.from({ length: 300_000 + i }, (_, k) => Math.sin(k * (i + 1)))
        return { name: 't' + i, dtype: tare.dtypeById('f32'), shape: [values.length], order: 'row', role: 'weight', data: tare.bytesPayload(new Uint8Array(values.buffer)) }
      })
      const model = { format: 'memory', metadata: new Map(), tensors, parts: [], files: [] }
      const write = async (from, target, path, pool) => {
        const extra = { uuid: '00112233-4455-6677-8899-aabbccddeeff', 'page-hashes': 65536 }
        const cast = target === 'safetensors' ? undefined : 'f16'
        const conversion = await tare.planConversion(from, target, { name: 'm.' + target, extra: target === 'safetensors' ? undefined : extra, cast, pool })
        await tare.runConversion(conversion, (name) => tare.openOutput(path), { pool, allowLoss: 'precision' })
      }
      await write(model, 'safetensors', file)
      const digests = []
      const { readFileSync } = await import('node:fs')
      for (const threads of [1, 2, 3]) {
        const pool = threads === 1 ? undefined : eager(tare.openPool({ threads }))
        const opened = await tare.openModel(await tare.openInput(file))
        await write(opened, 'aero', file + threads, pool)
        await tare.closeModel(opened)
        await pool?.close()
        digests.push(Buffer.from(await tare.digestOf('sha256', readFileSync(file + threads))).toString('hex'))
      }
      console.log(JSON.stringify(digests))
    `) as string[]
    expect(new Set(result).size).toBe(1)
  })
})

test('Web Workers do the same', () => {
  // Node has no Web Workers; its own threads stand in for them, with what a worker finds in a browser.
  const result = runCompiled(`
    import { Worker as Thread } from 'node:worker_threads'
    globalThis.Worker = class {
      constructor(url) {
        const scope = "globalThis.self = globalThis; const { parentPort } = require('node:worker_threads');" +
          "globalThis.postMessage = (message) => parentPort.postMessage(message);" +
          "globalThis.addEventListener = (type, listener) => parentPort.on(type, (data) => listener({ data }));"
        this.thread = new Thread(scope + 'import(' + JSON.stringify(String(url)) + ')', { eval: true })
      }
      addEventListener(type, listener) {
        this.thread.on(type, type === 'message' ? (data) => listener({ data }) : listener)
      }
      postMessage(message) { this.thread.postMessage(message) }
      terminate() { this.thread.terminate() }
    }
    const bytes = Uint8Array.from({ length: 500_000 }, (_, i) => (i * i) >>> 5)
    const source = new tare.BlobSource(new Blob([bytes]), 'dropped.bin')
    const wanted = [0, 1, 2, 3].map((i) => ({ start: i * 100_000, end: i * 110_000 + 50_000 }))
    const pool = tare.openWebPool({ threads: 2 })
    const digest = await pools.digestRanges(source, wanted, { pool, costs: { start: 0, read: 0 } })
    const failed = await pool.run(kinds.digestJob(source.handle, [{ start: 400_000, end: 600_000, algorithm: 'blake3' }])).catch((error) => error)
    await pool.close()
    const here = await pools.digestRanges(source, wanted)
    const hex = (get) => wanted.map((_, i) => Buffer.from(get(i)).toString('hex'))
    console.log(JSON.stringify({ threads: hex(digest), here: hex(here), failed: failed.finding }))
  `) as Record<string, unknown>
  expect(result.threads).toEqual(result.here)
  expect(result.failed).toMatchObject({ code: 'io/out-of-range', file: 'dropped.bin', offset: 400_000 })
})

describe('a thread that', () => {
  const poolOf = (program: string): ThreadPool => {
    writeFileSync(at('worker.mjs'), `import { parentPort } from 'node:worker_threads'\n${program}`)
    return new ThreadPool(2, 0, (events) => startWorker(pathToFileURL(at('worker.mjs')), events))
  }
  const failure = async (pool: ThreadPool): Promise<TareError['finding']> => {
    const error = await pool.run({ kind: 'x', data: 0, file: 'm.bin', offset: 5 }).catch((reason: TareError) => reason)
    return (error as TareError).finding
  }
  const died = { code: poolCodes['worker-died'].code, file: 'm.bin', offset: 5 }

  test('exits is an error, and another one takes its place', async () => {
    const pool = poolOf(`parentPort.on('message', () => process.exit(3))`)
    expect(await failure(pool)).toMatchObject(died)
    expect(await failure(pool)).toMatchObject(died)
    await pool.close()
  })

  test('throws tells why', async () => {
    const pool = poolOf(`parentPort.on('message', () => { throw new Error('no such luck') })`)
    expect(await failure(pool)).toMatchObject({ ...died, message: expect.stringContaining('no such luck') })
    await pool.close()
  })

  test('does not even start is an error', async () => {
    const pool = poolOf(`import './nowhere.mjs'`)
    expect(await failure(pool)).toMatchObject({ ...died, message: expect.stringContaining('nowhere.mjs') })
    await pool.close()
  })
})

test('where there is no file for workers, as among sources, everything is done in one thread', () => {
  expect(workerUrl()).toBeUndefined()
  expect(openPool({ threads: 4 })).toBeUndefined()
})
