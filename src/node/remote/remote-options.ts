import type { Finding } from '../../errors/index.js'

export interface RemoteOptions {
  /** Sent to the origin of the address, and to no other. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** False: nothing is kept on disk. */
  readonly cache?: boolean | undefined
  readonly onFinding?: ((finding: Finding) => void) | undefined
  readonly signal?: AbortSignal | undefined
}
