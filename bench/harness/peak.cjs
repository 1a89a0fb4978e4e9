// Loaded into the command before its own code: at the end it writes the peak memory of the process, in bytes, to the descriptor 3.
const { isMainThread } = require('node:worker_threads')

if (isMainThread) {
  process.on('exit', () => {
    const { readFileSync, writeSync } = require('node:fs')
    let bytes = process.resourceUsage().maxRSS * 1024
    try {
      bytes = Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))[1]) * 1024
    } catch {
      // not Linux
    }
    writeSync(3, String(bytes))
  })
}
