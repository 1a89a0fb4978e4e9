// Models without an index: reading all payloads, and listing what is in a file by walking over it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isolated, row, scratch } from '../harness.mjs'
import { writeModel } from '../primitiv-model.mjs'

const wantedSeconds = 0.3

export default async function primitiv({ quick }) {
  const folder = scratch()
  const large = join(folder, 'large.model')
  const many = join(folder, 'many.model')
  const bytes = await writeModel(large, quick ? 16 : 64, [1024, 1024])
  const count = quick ? 8192 : 65_536
  await writeModel(many, count, [1024])
  const payloads = isolated('primitiv-work.mjs', ['payloads', large])
  const list = isolated('primitiv-work.mjs', ['list', many])
  rmSync(folder, { recursive: true, force: true })
  const work = `list ${count} parameters of 4 KiB`
  return [
    row(`read all payloads, ${quick ? 16 : 64} x 4 MiB`, payloads, {
      against: 'pread',
      goal: 0.5,
      bytes,
      memory: payloads.memory,
    }),
    row(work, list, { against: 'pread of the file', memory: list.memory }),
    row(work, { tare: list.tare, yardstick: wantedSeconds }, { against: 'what is asked for', goal: 1 }),
    virtualRow(),
  ]
}

/** Bytes are no times: the row brings its own text. The least is what lies between the data, which the index itself is. */
function virtualRow() {
  const { size, tensors, read, reads, index, memory } = isolated('primitiv-work.mjs', ['virtual', 10e9])
  const head = 65_536
  const perThousand = ((read - head) / tensors) * 1000
  const work = `list a virtual model of ${(size / 1e9).toFixed(1)} GB`
  const line = `${work.padEnd(44)} ${read - head} bytes in ${reads} reads for ${tensors} parameters (${(perThousand / 1000).toFixed(1)} KB per thousand) behind the first ${head}; keys and shapes alone: ${index}  peak ${Math.round(memory / 2 ** 20)} MiB`
  return {
    work,
    against: 'keys and shapes',
    tare: read - head,
    yardstick: index,
    speed: index / (read - head),
    memory,
    line,
  }
}
