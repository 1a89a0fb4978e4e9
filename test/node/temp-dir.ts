import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** A fresh directory for each test; the function joins names to it. */
export function useTempDir(): (...names: string[]) => string {
  let directory = ''
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tare-test-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))
  return (...names) => join(directory, ...names)
}
