// What the entries differ in: Node opens and writes paths, a browser does not. `tare/node` registers this when it is loaded.
import type { ByteSink, ByteSource } from '../bytes/index.js'
import type { Spool } from '../delta/index.js'
import type { Finding } from '../errors/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { FormatId } from '../formats/index.js'
import type { S3Options } from '../remote/s3/client.js'

/** Where an output goes. */
export interface Place {
  readonly format: FormatId
  /** The file name of the output, without its directory. */
  readonly name: string
  /** The output is a directory of its own, so that the files of the model can lie in it. */
  readonly folder: boolean
  /** The path of a file of the output. */
  pathOf(name: string): string
  open(name: string): Promise<ByteSink>
}

export interface PlaceRequest {
  readonly to?: FormatId | undefined
  /** What is read. It is not written over, and nothing is written when it changed meanwhile. */
  readonly inputs: readonly ByteSource[]
  readonly overwrite?: boolean | undefined
}

/** What is known about an input beside its name. */
export interface OpenRequest {
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly cache?: boolean | undefined
  readonly s3?: S3Options | undefined
  /** Called for each warning and note about the input. */
  readonly onFinding?: ((finding: Finding) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a host adds. */
export interface Host {
  openPath(path: string, request: OpenRequest): Promise<ByteSource>
  openAddress(address: string, request: OpenRequest): Promise<ByteSource>
  place(output: string, request: PlaceRequest): Promise<Place>
  /** Where bytes wait that are too many for memory. */
  openSpool(): Promise<Spool>
}

let host: Host | undefined

/** Makes paths known. */
export function registerHost(given: Host): void {
  host = given
}

export const currentHost = (): Host | undefined => host

export const requireHost = (path: string): Host =>
  host ??
  failWith(usageCodes.option, {
    file: path,
    message: 'this is a path, which only tare/node opens; here it takes an http address, a Blob, bytes or a ByteSource',
  })
