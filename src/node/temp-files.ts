// Every temporary file that is open in this process. Whoever ends the process early (an exit, a signal handler) can remove them at
// once and without waiting; only SIGKILL and a power cut leave one behind.
import { unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const open = new Set<string>()
let hooked = false

export function trackTemp(path: string): void {
  if (!hooked) process.once('exit', removeOpenTemps)
  hooked = true
  open.add(path)
}

export function forgetTemp(path: string): void {
  open.delete(path)
}

/** Removes all temporary files, synchronously: it must work in the last moments of a process. */
export function removeOpenTemps(): void {
  for (const path of open) {
    try {
      unlinkSync(path)
    } catch {
      // already gone, or no longer ours to remove
    }
  }
  open.clear()
}

// File systems limit a name to 255 bytes; the part of the target's name that is kept must leave room for the rest.
const keptBytes = 200

/** A name beside the target that nothing else uses: the rename at the end must stay inside one file system. */
export function tempNameFor(target: string): string {
  return hiddenNameFor(target, `${randomHex()}.tare-tmp`)
}

/** A name beside the target that does not look like a model. */
export function hiddenNameFor(target: string, ending: string): string {
  let stem = basename(target)
  while (Buffer.byteLength(stem) > keptBytes) stem = stem.slice(0, -1)
  return join(dirname(target), `.${stem}.${ending}`)
}

/** Only to keep parallel runs apart: files are opened so that one that is there already is an error, whatever its name. */
const randomHex = (): string =>
  Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0')
