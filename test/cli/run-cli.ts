import { EventEmitter } from 'node:events'
import { Console, type Stream } from '../../src/cli/console/console.js'
import { execute } from '../../src/cli/run.js'

export interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

class Captured extends EventEmitter {
  text = ''
  readonly isTTY = false as never
  readonly columns = 120

  write(text: string): boolean {
    this.text += text
    return true
  }
}

/** Runs the command line inside this process. */
export async function runCli(...args: string[]): Promise<Ran> {
  const stdout = new Captured()
  const stderr = new Captured()
  const console = new Console(stdout as unknown as Stream, stderr as unknown as Stream)
  const status = await execute(args, '1.2.3', console, new AbortController().signal)
  return { status, stdout: stdout.text, stderr: stderr.text }
}
