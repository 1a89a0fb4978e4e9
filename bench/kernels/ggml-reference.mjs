// Encodes f32 values to blocks of one ggml type, on one thread, in turn with a libggml that another program calls. Processor time of both;
// prints JSON.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { ggmlTypes } from '../../dist/dtypes/ggml/types.js'
import { f32 } from '../../dist/dtypes/index.js'
import { bytesPayload } from '../../dist/model/index.js'
import { castTensor } from '../../dist/transforms/cast.js'
import { alignedBytes, fillNormal } from '../builders/normal.mjs'
import { answer, peakMemory } from '../harness/measure.mjs'

const [type, countText, roundsText, program, library, file] = process.argv.slice(2)
const count = Number(countText)
const columns = 4096
const values = alignedBytes(4 * count)
fillNormal(new Float32Array(values.buffer), 1, 0.02)
writeFileSync(file, values)

const { dtype, number } = ggmlTypes.find(({ dtype }) => dtype.id === `ggml.${type}`)
const shape = [count / columns, columns]
const tensor = { name: 'w', dtype: f32, shape, order: 'row', role: 'weight', data: bytesPayload(values) }
const encoded = castTensor(tensor, dtype).data

async function encode() {
  const start = process.cpuUsage()
  for await (const _ of encoded.chunks(1 << 20));
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

const reference = () =>
  Number(execFileSync(program, [library, number, columns, 2, file].map(String), { encoding: 'utf8' }))

await encode()
const memory = peakMemory()
const best = { tare: Number.POSITIVE_INFINITY, yardstick: Number.POSITIVE_INFINITY }
for (let i = 0; i < Number(roundsText); i++) {
  best.yardstick = Math.min(best.yardstick, reference())
  best.tare = Math.min(best.tare, await encode())
}
answer({ ...best, memory, bytes: 4 * count })
