// An object store on loopback in a process of its own, without signatures: ranges of the files of a folder, and uploads whose bytes go
// nowhere: `FOLDER`. It says its port in its first line.
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'

const folder = process.argv[2]

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost')
  const prefix = url.searchParams.get('prefix')
  if (prefix !== null) response.end(listOf(prefix))
  else if (request.method === 'GET') send(join(folder, basename(url.pathname)), request.headers.range, response)
  else if (request.method === 'HEAD') response.writeHead(404).end()
  else {
    request.resume()
    request.on('end', () => {
      response.setHeader('etag', '"part"')
      response.end(url.searchParams.has('uploads') ? '<UploadId>1</UploadId>' : '')
    })
  }
})

function listOf(key) {
  const { size, mtimeMs } = statSync(join(folder, basename(key)))
  return `<Contents><Key>${key}</Key><Size>${size}</Size><ETag>"${mtimeMs}"</ETag></Contents>`
}

function send(path, range, response) {
  const { size, mtimeMs } = statSync(path)
  const [, from = 0, to = size - 1] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? []
  const [start, end] = [Number(from), Math.min(Number(to), size - 1)]
  response.writeHead(206, {
    'content-length': end - start + 1,
    'content-range': `bytes ${start}-${end}/${size}`,
    etag: `"${mtimeMs}"`,
  })
  createReadStream(path, { start, end, highWaterMark: 1 << 20 }).pipe(response)
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
