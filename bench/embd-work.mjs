// Verifies a file again and again in one process, and computes the plain CRC-32 of its bytes in memory in turn.
import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { openInput, verifySource } from '../dist/node.js'
import { peakMemory, race } from './harness.mjs'

const path = process.argv[2]

async function verify() {
  const source = await openInput(path)
  const { verdict } = await verifySource(source)
  await source.close()
  if (verdict !== 'ok') throw new Error(`the file is said to have ${verdict}`)
}

await verify()
const memory = peakMemory() // before the whole file is in memory
const bytes = readFileSync(path)
process.stdout.write(`${JSON.stringify({ ...(await race(verify, () => crc32(bytes), 30)), memory })}\n`)
