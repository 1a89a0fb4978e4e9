// What a plain program needs to bring a file home, or to upload one, in ranges of 8 MiB of which four are on their way at once. It signs and
// hashes like tare, since a store wants that: `download|upload ADDRESS FILE`.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { AwsClient } from 'aws4fetch'
import { answer, seconds } from '../harness/measure.mjs'

const [, , way, address, path] = process.argv
const part = 8 << 20
const parallel = 4
const client = new AwsClient({ accessKeyId: 'id', secretAccessKey: 'key', service: 's3', region: 'us-east-1' })

/** Calls `move` for every range of the file, several at once. */
async function inRanges(size, move) {
  let next = 0
  const work = async () => {
    for (let at = next; at < size; at = next) {
      next = at + part
      await move(at, Math.min(at + part, size))
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
}

async function download() {
  const first = await client.fetch(address, { headers: { range: 'bytes=0-0' } })
  const size = Number(first.headers.get('content-range').split('/')[1])
  await first.arrayBuffer()
  const file = await open(path, 'w')
  await inRanges(size, async (start, end) => {
    const response = await client.fetch(address, { headers: { range: `bytes=${start}-${end - 1}` } })
    await file.write(new Uint8Array(await response.arrayBuffer()), 0, end - start, start)
  })
  await file.sync()
  await file.close()
}

async function upload() {
  const file = await open(path, 'r')
  const { size } = await file.stat()
  const begun = await client.fetch(`${address}?uploads`, { method: 'POST' })
  const [, id] = /<UploadId>(.*)<\/UploadId>/.exec(await begun.text())
  await inRanges(size, async (start, end) => {
    const body = new Uint8Array(end - start)
    await file.read(body, 0, body.byteLength, start)
    const headers = { 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') }
    const target = `${address}?partNumber=${start / part + 1}&uploadId=${id}`
    await (await client.fetch(target, { method: 'PUT', body, headers })).arrayBuffer()
  })
  await (await client.fetch(`${address}?uploadId=${id}`, { method: 'POST', body: '' })).arrayBuffer()
  await file.close()
}

answer({ seconds: await seconds(way === 'download' ? download : upload) })
