// Verifies every file of one folder of the fixtures, one after the other. Answers how many have defects and what the slowest took.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openInput, verifySource } from '../../dist/kit-node.js'
import { root } from '../harness/harness.mjs'
import { answer } from '../harness/measure.mjs'

const folder = join(root, 'fixtures', process.argv[2])
const found = { files: 0, damaged: 0, slowest: 0, total: 0 }
for (const name of readdirSync(folder, { recursive: true }).sort()) {
  const path = join(folder, name)
  if (!statSync(path).isFile()) continue
  const start = performance.now()
  const isSound = await verify(path)
  const seconds = (performance.now() - start) / 1000
  found.files++
  if (isSound) continue
  found.damaged++
  found.total += seconds
  found.slowest = Math.max(found.slowest, seconds)
}
answer(found)

/** What is no container at all throws, which is an answer as well. */
async function verify(path) {
  let source
  try {
    source = await openInput(path)
    return (await verifySource(source)).verdict === 'ok'
  } catch {
    return false
  } finally {
    await source?.close()
  }
}
