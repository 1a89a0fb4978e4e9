import { spawnSync } from 'node:child_process'
import { writeSample } from '../builders/sample.mjs'
import { cli, GiB, isolated, MiB, raceCommand, remove, size as sizeText, tare } from '../harness/harness.mjs'
import { row, skipped } from '../harness/rows.mjs'

export const topic = 'Two threads against one'
export const about = 'verify, hash, diff, stats, quantize and a conversion that recodes, with two threads and with one'

const goal = 1.7

export default async function* threads({ file, pick, rounds }) {
  const [from, other, aero] = [file('from.safetensors'), file('other.safetensors'), file('model.aero')]
  const bytes = writeSample(from, pick(GiB, 128 * MiB))
  const size = sizeText(bytes)
  await tare(['convert', from, '-o', aero, '--shard-size', '128MiB'])
  await tare(['convert', from, '-o', other])
  yield row(`reading alone, ${size}, once it runs`, isolated('work/read-threads.mjs', [from]), {
    against: '1 thread',
    bytes,
  })
  for (const [name, args] of [
    ['verify, AERO with 8 shards', ['verify', aero]],
    ['hash, blake3', ['hash', from, 'blake3']],
    ['hash, sha256', ['hash', from, 'sha256']],
    ['stats', ['stats', from]],
    ['quantize, k4', ['quantize', from, 'k4']],
    ['cast to f16', ['cast', from, 'f16']],
    ['diff', ['diff', from, other]],
  ]) {
    yield row(`${name}, ${size}, once it runs`, isolated('work/with-threads.mjs', args), {
      against: '1 thread',
      goal,
      bytes,
    })
  }
  remove(aero)

  // Whole commands: starting the command and the threads counts, so those that take tenths of a second are given more to do. Little or
  // nothing is written, so that no disk is in the way.
  const out = file('out.mcf')
  remove(other)
  const [large, largeOther] = [file('large.safetensors'), file('large-other.safetensors')]
  const largeBytes = writeSample(large, pick(4 * GiB, 256 * MiB))
  await tare(['convert', large, '-o', largeOther])
  const commands = [
    ['hash', ['hash', large], largeBytes],
    ['diff', ['diff', large, largeOther], largeBytes],
    ['stats', ['stats', large], largeBytes],
    ['quantize', ['quantize', from, '-o', out], bytes],
    ['convert --cast f16', ['convert', large, '-o', '-', '--to', 'safetensors', '--cast', 'f16'], largeBytes],
  ]
  for (const [name, args, bytes] of commands) {
    const [verb] = args
    const work = `tare ${name}, ${sizeText(bytes)}`
    if (!hasThreads(verb)) {
      yield skipped(work, '--threads 1', `tare ${verb} works on one thread`)
      continue
    }
    const one = () => tare([...args, '--threads', 1])
    const times = await raceCommand([...args, '--threads', 2], one, { rounds, before: () => remove(out) })
    yield row(work, times, { against: '--threads 1', goal, bytes })
  }
}

const hasThreads = (verb) =>
  spawnSync(process.execPath, [cli, verb, '--help'], { encoding: 'utf8' }).stdout.includes('--threads')
