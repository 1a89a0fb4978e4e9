import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { writeSample } from '../builders/sample.mjs'
import { serveFolder } from '../harness/file-server.mjs'
import { groups, isolated, MiB, remove, root, size as sizeText, tare } from '../harness/harness.mjs'
import { limitRow, row } from '../harness/rows.mjs'

export const topic = 'Over HTTP'
export const about =
  'requests and bytes that one tensor of a set, or a listing, takes from a server when nothing is in the cache; then what moves through loopback, against a plain program that moves the same bytes in four ranges at once'

export default async function* remote({ folder, file }) {
  writeSample(file('model.safetensors'), 256 * MiB)
  const set = file('model.aeroset.json')
  await tare(['convert', file('model.safetensors'), '-o', set, '--shard-size', '64MiB', '--part-shards', 1])
  const server = await serveFolder(folder)
  const count = async (args) => {
    Object.assign(server.seen, { requests: 0, bytes: 0 })
    const { memory } = await tare([...args, '--no-cache'])
    const { requests, bytes } = server.seen
    return { tare: requests, memory, note: `${groups(bytes)} bytes came` }
  }
  try {
    for (const name of ['model.aeroset.json', 'model.safetensors']) {
      const { note, ...listed } = await count(['inspect', server.url(name)])
      yield limitRow(`list a remote ${name.split('.')[1]}`, listed, { max: 2, unit: 'requests', note })
    }
    const tensor = ['extract', server.url('model.aeroset.json'), 'layers.9.weight', '-o', file('tensor.bin')]
    const { note, ...fetched } = await count(tensor)
    const reference = { against: 'the reference', yardstick: 14 }
    const work = `fetch a tensor of ${sizeText(16 * MiB)} from a remote aeroset`
    yield limitRow(work, fetched, { max: 4, unit: 'requests', note, ...reference })
  } finally {
    server.close()
  }
  yield* throughput(folder, file)
}

/** Bytes through loopback, from a store and to one that is a process of its own. */
async function* throughput(folder, file) {
  const bytes = 512 * MiB
  writeSample(file('large.safetensors'), bytes)
  const store = spawn(process.execPath, [join(root, 'bench', 'work', 'store.mjs'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = await once(store.stdout, 'data')
    const endpoint = `http://127.0.0.1:${String(port).trim()}`
    Object.assign(process.env, { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' })
    const [near, far] = [file('large.safetensors'), 's3://bucket/large.safetensors']
    const works = [
      ['fetch', 'download', ['fetch', far, '-o', file('home'), '--no-cache'], file('plain')],
      [
        'convert from a store',
        'download',
        ['convert', far, '-o', file('home.gguf'), '--as-is', '--no-cache'],
        file('plain'),
      ],
      ['convert into a store', 'upload', ['convert', near, '-o', 's3://bucket/out.gguf', '--as-is'], near],
    ]
    for (const [work, way, args, path] of works) {
      const best = { tare: Number.POSITIVE_INFINITY, yardstick: Number.POSITIVE_INFINITY, memory: 0 }
      for (let round = 0; round < 3; round++) {
        remove(file('home'), file('home.gguf'), file('plain'))
        best.yardstick = Math.min(
          best.yardstick,
          isolated('work/transfer.mjs', [way, `${endpoint}/bucket/large.safetensors`, path]).seconds,
        )
        const { seconds, memory } = await tare(args)
        best.tare = Math.min(best.tare, seconds)
        best.memory = Math.max(best.memory, memory)
      }
      yield row(`${work}, ${sizeText(bytes)}`, best, { against: `plain ${way}`, goal: 0.8, bytes })
    }
  } finally {
    store.kill()
  }
}
