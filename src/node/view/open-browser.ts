// Starting the user's browser, without a shell: the address is an argument and never part of a command line.
import { spawn } from 'node:child_process'
import { userInfo } from 'node:os'

type Environment = Readonly<Record<string, string | undefined>>

/** The program that opens an address, and its arguments; undefined where nobody sits in front of the machine. */
export function browserCommand(
  address: string,
  platform: string = process.platform,
  env: Environment = process.env,
): readonly [program: string, ...args: string[]] | undefined {
  if (isOverSsh(env)) return undefined
  if (platform === 'darwin') return ['open', address]
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address]
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', address] : undefined
}

const isOverSsh = (env: Environment): boolean => Boolean(env.SSH_CONNECTION)

/** Whether a program was started. What it does then is its own affair. */
export async function openBrowser(address: string): Promise<boolean> {
  const command = browserCommand(address)
  if (!command) return false
  const [program, ...args] = command
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  child.unref()
  return new Promise((done) => {
    child.once('spawn', () => done(true))
    child.once('error', () => done(false))
  })
}

/** For the user's own machine: `ssh -L 40123:127.0.0.1:40123 me@10.0.0.7`. Undefined where there is no ssh. */
export function tunnelCommand(port: number, env: Environment = process.env): string | undefined {
  const host = env.SSH_CONNECTION?.split(' ')[2]
  return host && `ssh -L ${port}:127.0.0.1:${port} ${userInfo().username}@${host}`
}
