// Verifies a file with checksums again and again in one process, against the plain CRC-32 of its bytes in memory: `FILE`.
import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { openInput, verifySource } from '../../dist/kit-node.js'
import { answer, race } from '../harness/measure.mjs'

const path = process.argv[2]

async function verify() {
  const source = await openInput(path)
  const { verdict } = await verifySource(source)
  await source.close()
  if (verdict !== 'ok') throw new Error(`the file is said to have ${verdict}`)
}

let bytes
function digest() {
  bytes ??= readFileSync(path)
  return crc32(bytes)
}

answer(await race(verify, digest, 20))
