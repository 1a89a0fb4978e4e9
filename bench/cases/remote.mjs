import { writeSample } from '../builders/sample.mjs'
import { serveFolder } from '../harness/file-server.mjs'
import { groups, MiB, size as sizeText, tare } from '../harness/harness.mjs'
import { limitRow } from '../harness/rows.mjs'

export const topic = 'Over HTTP'
export const about =
  'requests and bytes that one tensor of an AEROSET, or a listing, takes from a server when nothing is in the cache'

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
}
