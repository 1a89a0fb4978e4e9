import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'

/** Serves the files of a folder on loopback, with ranges, and counts what it is asked. */
export async function serveFolder(folder) {
  const seen = { requests: 0, bytes: 0 }
  const server = createServer((request, response) => {
    const path = join(folder, basename(new URL(request.url, 'http://localhost').pathname))
    const { size, mtimeMs } = statSync(path)
    const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? []
    const start = Number(from ?? 0)
    const end = Math.min(to ? Number(to) : size - 1, size - 1)
    seen.requests++
    seen.bytes += end - start + 1
    response.writeHead(from === undefined ? 200 : 206, {
      'content-length': end - start + 1,
      'accept-ranges': 'bytes',
      etag: `"${mtimeMs}"`,
      ...(from !== undefined && { 'content-range': `bytes ${start}-${end}/${size}` }),
    })
    createReadStream(path, { start, end }).pipe(response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  return { seen, url: (name) => `http://127.0.0.1:${port}/${name}`, close: () => server.close() }
}
