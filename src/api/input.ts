// Everything that a model can be opened from, as a source of bytes.
import { BlobSource, type ByteSource, MemorySource } from '../bytes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import { isRemote } from '../remote/is-remote.js'
import type { S3Options } from '../remote/s3/client.js'
import { currentHost, type OpenRequest, requireHost } from './host.js'

/**
 * Where a model is: an http(s), s3, gs or hf address, a Blob or File, bytes in memory, or a source of your own. In `tare/node` a string can also be the
 * path of a file or of a directory that holds one model, and a URL can be a `file:` address.
 */
export type ModelInput = string | URL | Blob | Uint8Array | ArrayBuffer | ByteSource

/** How an input is opened. */
export interface InputOptions extends OpenRequest {
  /** The name of bytes or of a Blob, in messages and where only the name tells the format. Default: the name of a File. */
  readonly name?: string | undefined
  /** The other files of a model that was given as bytes or as a Blob: shards, configuration, external data. */
  readonly siblings?: Iterable<File> | ReadonlyMap<string, Blob | Uint8Array> | undefined
  /** Sent with requests to the origin of an address. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For `s3:` addresses: the store and the credentials. In `tare/node` those of the environment and the profile files count without it. */
  readonly s3?: S3Options | undefined
  /** False: what is fetched from an address is not kept on disk. A browser keeps nothing anyway. */
  readonly cache?: boolean | undefined
}

/** Opens an input. The caller closes the source, or the model that is opened from it. */
export async function openSource(input: ModelInput, options: InputOptions = {}): Promise<ByteSource> {
  if (typeof input === 'string') {
    return isRemote(input) ? openAddress(input, options) : requireHost(input).openPath(input, options)
  }
  if (input instanceof URL) {
    if (isRemote(input.href)) return openAddress(input.href, options)
    if (input.protocol === 'file:') return requireHost(input.href).openPath(input.href, options)
    failWith(usageCodes.option, {
      file: input.href,
      message: 'only http, https, s3, gs, hf and file addresses can be opened',
    })
  }
  if (input instanceof Blob) {
    const siblings = siblingsOf(options, (bytes) => (bytes instanceof Blob ? bytes : new Blob([bytes as BlobPart])))
    return new BlobSource(input, options.name, await siblings)
  }
  if (input instanceof Uint8Array || input instanceof ArrayBuffer) {
    const bytes = input instanceof Uint8Array ? input : new Uint8Array(input)
    const siblings = siblingsOf(options, async (file) =>
      file instanceof Blob ? new Uint8Array(await file.arrayBuffer()) : file,
    )
    return new MemorySource(bytes, options.name, await siblings)
  }
  if (isSource(input)) return input
  const message = 'a model is opened from a path, an address, a Blob, a Uint8Array, an ArrayBuffer or a ByteSource'
  return failWith(usageCodes.option, { file: 'input', message: `${message}, not from ${kindOf(input)}` })
}

async function openAddress(address: string, request: OpenRequest): Promise<ByteSource> {
  const { headers, cache, s3, onFinding, signal } = request
  const host = currentHost()
  if (host) return host.openAddress(address, { headers, cache, s3, onFinding, signal })
  const { openFromServer, openStored } = await import('./stores.js')
  return (await openStored(address, request)) ?? openFromServer(address, { headers, onFinding, signal })
}

async function siblingsOf<T>(
  { siblings = [] }: InputOptions,
  convert: (file: Blob | Uint8Array) => T | Promise<T>,
): Promise<Map<string, T>> {
  const named = siblings instanceof Map ? siblings : new Map([...(siblings as Iterable<File>)].map((f) => [f.name, f]))
  const converted = new Map<string, T>()
  for (const [name, file] of named) converted.set(name, await convert(file))
  return converted
}

const isSource = (input: unknown): input is ByteSource =>
  typeof input === 'object' && input !== null && 'read' in input && 'size' in input

function kindOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value)
  return value.constructor?.name ?? 'an object'
}
