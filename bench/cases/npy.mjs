import { writeSample } from '../builders/sample.mjs'
import { isolated, MiB, missing, raceCommand, remove, run, size as sizeText, tare } from '../harness/harness.mjs'
import { row, skipped } from '../harness/rows.mjs'

export const topic = 'Opening and listing'
export const about =
  'NPY and NPZ: reading an array against npyjs; the checksums of an archive against zlib.crc32 and crc32'

export default async function* npy({ file, pick, rounds }) {
  const [from, array, archive] = [file('from.safetensors'), file('array.npy'), file('archive.npz')]
  writeSample(from, 16 * MiB)
  for (const cast of ['f32', 'f16']) {
    await tare(['convert', from, '-o', array, '--cast', cast])
    const { bytes, ...times } = isolated('work/npy-read.mjs', [array])
    yield row(`read ${sizeText(bytes)} of values (NPY, ${cast})`, times, { against: 'npyjs', bytes })
  }
  remove(array)

  const bytes = writeSample(from, pick(256 * MiB, 64 * MiB))
  await tare(['convert', from, '-o', archive])
  remove(from)
  const work = `verify ${sizeText(bytes)}, all checksums (NPZ)`
  const options = { topic: 'Verifying and hashing', bytes }
  yield row(work, isolated('work/crc-check.mjs', [archive]), { ...options, against: 'zlib.crc32' })
  const reason = missing('crc32')
  if (reason) yield { ...skipped(work, 'crc32', reason), topic: options.topic }
  else {
    const times = await raceCommand(['verify', archive], () => run('crc32', [archive]), { rounds })
    yield row(`tare verify, ${sizeText(bytes)} (NPZ)`, times, { ...options, against: 'crc32' })
  }
}
