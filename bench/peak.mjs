// Runs the command line in this process and prints its peak memory as the last line.
import { peakMemory } from './harness.mjs'

process.argv.splice(1, 1, 'tare')
process.argv.push('--quiet')
process.on('exit', () => process.stdout.write(`\n${JSON.stringify({ memory: peakMemory() })}\n`))
await import('../dist/command/main.js')
