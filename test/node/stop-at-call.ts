import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const names = [
  'openSync',
  'writeSync',
  'fsyncSync',
  'ftruncateSync',
  'renameSync',
  'unlinkSync',
  'copyFileSync',
] as const

class Stopped extends Error {}

/**
 * Runs something whose changes to the file system end at the nth call, as if the process were killed there: a write is cut in half, and every
 * later call fails, those that would clean up too. False: it came to its end before.
 */
export async function stopAtCall(
  call: number,
  work: () => Promise<unknown>,
  kill: () => void = () => {},
): Promise<boolean> {
  const real = names.map((name) => [name, fs[name]] as const)
  let calls = 0
  for (const [name, original] of real) {
    const replaced = (...args: unknown[]): unknown => {
      calls++
      if (calls === call && name === 'writeSync') {
        const [file, bytes, offset, length, position] = args as [number, Uint8Array, number, number, number]
        ;(original as typeof fs.writeSync)(file, bytes, offset, Math.ceil(length / 2), position)
      }
      if (calls === call) kill()
      if (calls >= call) throw new Stopped(`${name} was not called`)
      return (original as (...args: unknown[]) => unknown)(...args)
    }
    Object.assign(fs, { [name]: replaced })
  }
  syncBuiltinESMExports()
  try {
    await work()
    return false
  } catch (error) {
    if (!isStopped(error)) throw error
    return true
  } finally {
    for (const [name, original] of real) Object.assign(fs, { [name]: original })
    syncBuiltinESMExports()
  }
}

const isStopped = (error: unknown): boolean =>
  error instanceof Stopped || (error instanceof Error && isStopped(error.cause))
