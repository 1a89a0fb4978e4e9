import { writeSparseSample } from '../builders/sample.mjs'
import { GiB, isolated, remove, size as sizeText, tareBest } from '../harness/harness.mjs'
import { growthRows } from '../harness/rows.mjs'

export const topic = 'Growth: bytes'
export const about =
  'virtual files of 1, 8 and 64 GiB: plan, convert, hash, statistics, hashing and verifying; up to 8 for quantizing'

// Searching for the best scales would take five minutes for 64 GiB.
const works = [
  { name: 'open and plan three conversions', work: 'plan', per: 'file' },
  { name: 'convert, safetensors → gguf', work: 'convert', limit: 200e6 },
  { name: 'hash, blake3', work: 'hash' },
  { name: 'statistics', work: 'stats' },
  { name: 'convert to AERO with all hashes', work: 'seal', limit: 250e6 },
  { name: 'verify AERO with all hashes', work: 'verify', limit: 150e6 },
  { name: 'quantize to k4', work: 'quantize', isSlow: true },
]

export default async function* growthBytes({ file, pick }) {
  for (const { name, work, isSlow, limit, per = 'byte' } of works) {
    const sizes = pick(isSlow ? [0.5, 2, 8] : [1, 8, 64], [1 / 16, 1 / 8])
    const measured = sizes.map((gib) => isolated('work/virtual-work.mjs', [work, gib * GiB, file(`sealed-${gib}`)]))
    yield* growthRows(`${name} (virtual)`, measured, { per, limit, name: sizeText })
  }
  for (const [name, args] of Object.entries(commands)) {
    const measured = []
    for (const gib of pick([1, 8, 64], [1 / 16, 1 / 8])) {
      const path = file('sparse.safetensors')
      writeSparseSample(path, gib * GiB)
      measured.push({ size: gib * GiB, ...(await tareBest(args(path), pick(5, 1))) })
      remove(path)
    }
    yield* growthRows(name, measured, { per: 'file', name: sizeText })
  }
}

const commands = {
  'tare inspect': (path) => ['inspect', path],
  'tare verify (no checksums)': (path) => ['verify', path],
  'tare convert --dry-run': (path) => ['convert', path, '-o', path.replace('safetensors', 'gguf'), '--dry-run'],
}
