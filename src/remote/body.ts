// Bodies of answers, taken as they come and measured against what was announced.
import { joinBytes } from '../bytes/index.js'
import { type Finding, failWith, findingOf } from '../errors/index.js'
import { remoteCodes } from './codes.js'
import { defaultIdleTimeout, type RequestSettings } from './request.js'
import { BrokenConnection } from './retry.js'

export interface BodyOptions extends RequestSettings {
  /** The most bytes that are downloaded from a server that cannot send ranges. */
  readonly downloadLimit?: number | undefined
  /** Told when the server cannot send ranges. */
  readonly onFinding?: ((finding: Finding) => void) | undefined
}

const defaultDownloadLimit = 2 ** 30

/** The next piece of a body, or undefined at its end; a silence longer than the idle timeout counts as a broken connection. */
export async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { idleTimeout = defaultIdleTimeout }: BodyOptions,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BrokenConnection(`no byte came for ${idleTimeout / 1000} s`)), idleTimeout)
  })
  const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer))
  if (done) return undefined
  if (signal.aborted) throw new BrokenConnection('cancelled')
  return value
}

/** Hands over the body as it comes. */
async function pour(
  response: Response,
  options: BodyOptions,
  signal: AbortSignal,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined
  if (!reader) return
  try {
    for (;;) {
      const chunk = await nextChunk(reader, options, signal)
      if (!chunk) return
      take(chunk)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

export async function readBody(
  response: Response,
  url: URL,
  offset: number,
  length: number,
  options: BodyOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let done = 0
  await pour(response, options, signal, (chunk) => {
    if (done + chunk.byteLength > length) {
      failWith(remoteCodes['range-mismatch'], {
        file: url.href,
        offset,
        message: 'more bytes came than the answer announced',
      })
    }
    bytes.set(chunk, done)
    done += chunk.byteLength
  })
  if (done < length) throw new BrokenConnection(`the connection ended ${length - done} bytes early`)
  return bytes
}

/** The server ignored the range: everything is taken, within a limit, and the user is told. */
export async function downloadWhole(
  response: Response,
  url: URL,
  options: BodyOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const limit = options.downloadLimit ?? defaultDownloadLimit
  // The length of a compressed body says nothing about the file.
  const isEncoded = (response.headers.get('content-encoding') ?? 'identity') !== 'identity'
  const announced = isEncoded ? 0 : Number(response.headers.get('content-length') ?? 0)
  const tooLarge = (size: number): never =>
    failWith(remoteCodes['too-large'], {
      file: url.href,
      offset: 0,
      message: `${size} bytes or more, the limit is ${limit}; download it with another program`,
    })
  if (announced > limit) {
    await response.body?.cancel().catch(() => {})
    tooLarge(announced)
  }
  options.onFinding?.(findingOf(remoteCodes['no-ranges'], { message: remoteCodes['no-ranges'].text }, url.href))
  if (announced > 0) return readBody(response, url, 0, announced, options, signal)
  const parts: Uint8Array[] = []
  let size = 0
  await pour(response, options, signal, (chunk) => {
    size += chunk.byteLength
    if (size > limit) tooLarge(size)
    parts.push(chunk)
  })
  return joinBytes(parts)
}
