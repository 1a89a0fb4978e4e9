// Response bodies, read as they arrive and checked against the announced length.
import { type ByteSource, decodeLossy, joinBytes, MemorySource } from '../bytes/index.js'
import { type Finding, failWith, findingOf } from '../errors/index.js'
import { remoteCodes } from './codes.js'
import { Pace, type PaceOptions } from './pace.js'
import { defaultIdleTimeout, nameOf, type RequestSettings } from './request.js'
import { BrokenConnection } from './retry.js'

export interface BodyOptions extends RequestSettings, PaceOptions {
  /** The maximum number of bytes downloaded from a server that does not support ranges. */
  readonly downloadLimit?: number | undefined
  /** Where such a download goes. Default: into memory. */
  readonly keepWhole?: ((body: AsyncIterable<Uint8Array>, name: string) => Promise<ByteSource>) | undefined
  /** Called when the server does not support ranges. */
  readonly onFinding?: ((finding: Finding) => void) | undefined
}

const defaultDownloadLimit = 2 ** 30

/** The next chunk of a body, or undefined at its end. A silence longer than the idle timeout counts as a broken connection. */
export async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { idleTimeout = defaultIdleTimeout }: BodyOptions,
  pace: Pace,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const asked = performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BrokenConnection(`no byte came for ${idleTimeout / 1000} s`)), idleTimeout)
  })
  const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer))
  if (done) return undefined
  if (signal.aborted) throw new BrokenConnection('cancelled')
  pace.add(value.byteLength, performance.now() - asked)
  return value
}

/** The body as it arrives. */
async function* pour(
  response: Response,
  url: URL,
  options: BodyOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined
  if (!reader) return
  const pace = new Pace(nameOf(url, options), options)
  try {
    for (;;) {
      const chunk = await nextChunk(reader, options, pace, signal)
      if (!chunk) return
      yield chunk
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** The same for a known length. */
async function* pourExactly(
  body: AsyncIterable<Uint8Array>,
  file: string,
  offset: number,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  let done = 0
  for await (const chunk of body) {
    done += chunk.byteLength
    if (done > length) {
      const message = 'more bytes came than the answer announced'
      failWith(remoteCodes['range-mismatch'], { file, offset, message })
    }
    yield chunk
  }
  if (done < length) throw new BrokenConnection(`the connection ended ${length - done} bytes early`)
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
  for await (const chunk of pourExactly(pour(response, url, options, signal), nameOf(url, options), offset, length)) {
    bytes.set(chunk, done)
    done += chunk.byteLength
  }
  return bytes
}

/** A short answer as text; longer ones are cut. */
export async function readText(
  response: Response,
  url: URL,
  limit: number,
  options: BodyOptions,
  signal: AbortSignal,
): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of pour(response, url, options, signal)) {
    parts.push(chunk)
    size += chunk.byteLength
    if (size >= limit) break
  }
  return decodeLossy(joinBytes(parts))
}

/** The server ignored the range: everything is downloaded, up to a limit, and the user is told. */
export async function downloadWhole(
  response: Response,
  url: URL,
  options: BodyOptions,
  signal: AbortSignal,
): Promise<ByteSource> {
  const limit = options.downloadLimit ?? defaultDownloadLimit
  const file = nameOf(url, options)
  // The length of a compressed body is not the length of the file.
  const isEncoded = (response.headers.get('content-encoding') ?? 'identity') !== 'identity'
  const announced = isEncoded ? 0 : Number(response.headers.get('content-length') ?? 0)
  if (announced > limit) {
    await response.body?.cancel().catch(() => {})
    failTooLarge(file, announced, limit)
  }
  options.onFinding?.(
    findingOf(
      remoteCodes['no-ranges'],
      { message: 'the server does not support ranges, so the whole file is downloaded' },
      file,
    ),
  )
  const body = pour(response, url, options, signal)
  const { keepWhole = keepInMemory } = options
  return keepWhole(announced > 0 ? pourExactly(body, file, 0, announced) : upTo(body, file, limit), file)
}

async function* upTo(
  body: AsyncIterable<Uint8Array>,
  file: string,
  limit: number,
): AsyncGenerator<Uint8Array, void, void> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > limit) failTooLarge(file, size, limit)
    yield chunk
  }
}

function failTooLarge(file: string, size: number, limit: number): never {
  const message = `${size} bytes or more, the limit is ${limit}; download it with another program`
  return failWith(remoteCodes['too-large'], { file, offset: 0, message })
}

async function keepInMemory(body: AsyncIterable<Uint8Array>, name: string): Promise<ByteSource> {
  const parts: Uint8Array[] = []
  for await (const chunk of body) parts.push(chunk)
  return new MemorySource(joinBytes(parts), name)
}
