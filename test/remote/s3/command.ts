// The command with the environment of a store, and nothing of the user's own settings.
import { afterEach, beforeEach, vi } from 'vitest'
import { runCli } from '../../cli/run-cli.js'
import type { S3Server } from './server.js'

/** Points the command to the server, with a home directory of its own. */
export function useEnvironment(server: S3Server, at: (name: string) => string): typeof runCli {
  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (/^(AWS|HF)_/.test(name)) vi.stubEnv(name, undefined)
    vi.stubEnv('TARE_CACHE', at('cache'))
    vi.stubEnv('AWS_CONFIG_FILE', at('no-config'))
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', at('no-credentials'))
    for (const [name, value] of Object.entries(server.environment)) vi.stubEnv(name, value)
  })
  afterEach(() => vi.unstubAllEnvs())
  return runCli
}
