// What the simulation takes from this machine: the processor time of a part of each kind, and what handing out, collecting and finishing cost per
// task. Processor time, so that other programs on the machine count as little as possible.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { consumerName, openQueue, resultSubject, taskStream, taskSubject } from '../../dist/node/queue/connection.js'
import { finishJob, jobStatus, planJob, workOnJob } from '../../dist/node.js'
import { rangeOf } from '../../dist/writing/ranges/range-of.js'
import { seconds } from '../harness/measure.mjs'
import { sample } from './model.mjs'
import { planned } from './plan.mjs'

/** The processor time that this process spends on it, in seconds. */
export async function cpuSeconds(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

/** A part of a conversion, and a look at its input: seconds per byte, and bytes read per byte written. */
export async function partCosts(options, rounds) {
  let read = 0
  const { conversion, tasks } = await planned(sample, options, (bytes) => {
    read += bytes
  })
  const { layout, checks } = conversion
  const task = tasks.find(({ kind }) => kind === 'range')
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i <= rounds; i++) {
    read = 0
    const taken = await cpuSeconds(async () => {
      const range = rangeOf(layout, layout.files[task.file].name, task.from, task.to)
      for await (const _ of range.placed());
    })
    if (i > 0) best = Math.min(best, taken)
  }
  const bytes = task.to - task.from
  const costs = { perByte: best / bytes, readPerByte: read / bytes, check: 0 }
  if (checks.length === 0) return costs
  await checks[0].run({})
  return { ...costs, check: (await cpuSeconds(() => checks[0].run({}))) / checks[0].bytes }
}

/**
 * A job of many very short parts on the file system of this folder, in seconds per part. What finishing takes for the same bytes in few parts is no
 * cost of a part.
 */
export async function jobCosts(folder, count) {
  mkdirSync(folder, { recursive: true })
  const input = join(folder, 'in.safetensors')
  const each = 4096
  const text = JSON.stringify({ w: { dtype: 'F32', shape: [(count * each) / 4], data_offsets: [0, count * each] } })
  const head = Buffer.alloc(8 + Math.ceil(text.length / 8) * 8, 32)
  head.writeBigUInt64LE(BigInt(head.byteLength - 8))
  head.write(text, 8)
  writeFileSync(input, Buffer.concat([head, Buffer.alloc(count * each)]))
  await runJob(input, join(folder, 'warm.gguf'), 256 * each)
  const few = await runJob(input, join(folder, 'few.gguf'), 256 * each)
  const many = await runJob(input, join(folder, 'many.gguf'), each)
  const perPart = (name) => (many[name] - few[name]) / (many.made - few.made)
  return {
    work: many.work / many.made,
    look: many.look / many.made,
    finish: perPart('finish'),
    finishCpu: perPart('finishCpu'),
    finishOnce: few.finish,
  }
}

async function runJob(input, output, partSize) {
  const { job } = await planJob(input, output, { partSize })
  const result = {}
  result.work = await seconds(async () => {
    result.made = (await workOnJob(job)).made
  })
  await jobStatus(job)
  result.look = await cpuSeconds(() => jobStatus(job))
  result.finishCpu = await cpuSeconds(async () => {
    result.finish = await seconds(() => finishJob(job))
  })
  return result
}

/** Tasks through a real server on this machine: seconds of processor time per task, of the server and of the submitter. Undefined without one. */
export async function queueCosts(folder, count) {
  const program = ['nats-server', '/usr/sbin/nats-server'].find((path) => spawnSync(path, ['--version']).status === 0)
  if (!program) return undefined
  const port = await freePort()
  const server = spawn(program, ['-js', '-sd', join(folder, 'nats'), '-a', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
  })
  try {
    const queue = await connected(`nats://127.0.0.1:${port}`)
    const job = '0123456789abcdef'
    const submit = await cpuSeconds(() => publishAll(queue, job, count))
    const consumer = await queue.client.consumers.get(taskStream, consumerName())
    for (let i = 0; i < count; i++) {
      const message = await consumer.next({ expires: 2000 })
      const { task } = JSON.parse(message.string())
      await queue.client.publish(resultSubject(job), JSON.stringify({ task, seconds: 1 }), {
        msgID: `${job}-${task}-done`,
      })
      message.ack()
    }
    await queue.close()
    return { server: processSeconds(server.pid) / count, submit: submit / count }
  } finally {
    const ended = once(server, 'exit')
    server.kill()
    await ended
  }
}

/** As the submitter does it. */
async function publishAll({ client }, job, count) {
  const waiting = []
  for (let task = 0; task < count; task++) {
    const message = { job, address: '/shared/model.gguf.job-0123456789abcdef/job.json', task }
    waiting.push(client.publish(taskSubject(job), JSON.stringify(message), { msgID: `${job}-${task}` }))
    if (waiting.length >= 256) await Promise.all(waiting.splice(0))
  }
  await Promise.all(waiting)
}

async function connected(address) {
  for (let i = 0; ; i++) {
    try {
      return await openQueue(address)
    } catch (error) {
      if (i === 40) throw error
      await setTimeout(100)
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Linux counts it in hundredths of a second. */
function processSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
