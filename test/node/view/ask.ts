// Requests as a hostile client may send them: any path, any header.
import { type IncomingHttpHeaders, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** `path` is sent as it is. */
export function ask(port: number, path: string, { method = 'GET', headers = {} }: Asked = {}): Promise<Answer> {
  return new Promise((done, failed) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers, agent: false, timeout: 10_000 },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () =>
          done({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(parts) }),
        )
        answer.on('error', failed)
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('no answer came')))
    sent.on('error', failed)
    sent.end()
  })
}
