// A place for the compiled sources of one run of the tests. Whoever needs them first compiles them (`useCompiled`).
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    readonly compiledDirectory: string
  }
}

export default function setup(project: TestProject): () => void {
  const cache = resolve(import.meta.dirname, '../node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'tare-test-'))
  project.provide('compiledDirectory', directory)
  return () => rmSync(directory, { recursive: true, force: true })
}
