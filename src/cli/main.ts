#!/usr/bin/env node
// `--version` alone loads nothing but Node itself: programs ask for it often, and it is the baseline of the start-up time.
import { readFileSync } from 'node:fs'
import module from 'node:module'

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

const args = process.argv.slice(2)
if (args.length === 1 && ['--version', '-V', '-v'].includes(args[0]!)) console.log(version())
else {
  // Newer versions of Node keep what they have compiled for the next start.
  const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
  enableCompileCache?.()
  const { run } = await import('./run.js')
  await run(args, version())
}
