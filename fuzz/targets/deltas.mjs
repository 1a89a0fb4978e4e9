// Deltas that somebody changed: what comes out of base and delta is the new model, byte for byte, or a finding.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyDelta, makeDelta } from '../../dist/index.js'
import { MemorySource, openModel } from '../../dist/kit.js'
import { piecesOf } from '../mutate.mjs'
import { Broken, guarded, outcomeOf } from '../oracles/broken.mjs'

const folder = fileURLToPath(new URL('../../fixtures/delta', import.meta.url))
const read = (...names) => new Uint8Array(readFileSync(join(folder, ...names)))
const base = read('base.safetensors')
const next = read('new.safetensors')

async function seeds() {
  const made = []
  for (const options of [{}, { planes: false }, { level: 9 }]) {
    const { files } = await makeDelta(base, next, undefined, options)
    made.push({ bytes: files[0].bytes, name: 'update.safetensors' })
  }
  for (const form of ['public-xor', 'public-overwrite']) {
    const siblings = new Map(readdirSync(join(folder, form)).map((name) => [name, read(form, name)]))
    const name = 'model.safetensors.index.json'
    made.push({ bytes: siblings.get(name), name, siblings })
  }
  return Promise.all(made.map(async (seed) => ({ ...seed, pieces: await piecesOf(seed, 'safetensors') })))
}

async function check({ bytes, name, siblings }, _random, pace) {
  let outcome
  const files = siblings && new Map(siblings).set(name, bytes)
  const made = await guarded(
    'apply',
    async () => {
      const delta = await openModel(new MemorySource(bytes, name, files), { from: 'safetensors' })
      return await applyDelta(base, delta, undefined)
    },
    (finding) => {
      outcome = outcomeOf(finding)
    },
  )
  pace?.depthOf(made ? `applied ${made.changed}` : outcome)
  if (!made) return 'refused'
  // The public form has checksums of tensors only: it may leave out one, and its own names are nobody's concern.
  const isPublic = siblings !== undefined
  const [file] = made.files
  if (!isPublic && Buffer.compare(file.bytes, next) !== 0)
    throw new Broken('what is applied is the new model', `${made.files.length} files, ${file.bytes.length} bytes`)
  if (isPublic) await guarded('open', () => openModel(new MemorySource(file.bytes), { from: 'safetensors' }))
  return 'opened'
}

export const deltas = { id: 'delta', format: 'safetensors', seeds, check }
