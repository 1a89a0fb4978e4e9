// Loaded before the command: counts its calls that change files, and kills the process at one of them, before or in the middle of it.
const fs = require('node:fs')
const { KILL_AT, COUNT_TO } = process.env
let calls = 0

function passing(cutWrite) {
  calls++
  if (calls !== Number(KILL_AT)) return
  cutWrite?.()
  process.kill(process.pid, 'SIGKILL')
  for (;;); // it does not come back
}

/** The first half of the bytes, as a write that is interrupted leaves it. */
const half = (write, args) => () => {
  try {
    const [file, bytes, offset = 0, length = bytes.byteLength - offset, position = null] = args
    if (ArrayBuffer.isView(bytes)) write(file, bytes, offset, Math.floor(length / 2), position)
  } catch {}
}

for (const name of [
  'openSync',
  'writeSync',
  'fsyncSync',
  'ftruncateSync',
  'renameSync',
  'unlinkSync',
  'copyFileSync',
  'mkdirSync',
  'chmodSync',
]) {
  const real = fs[name]
  fs[name] = (...args) => {
    passing(name === 'writeSync' ? half(real, args) : undefined)
    return real(...args)
  }
}
const realWrite = fs.writeSync
for (const name of ['open', 'rename', 'unlink', 'mkdir', 'writeFile', 'truncate']) {
  const real = fs.promises[name]
  fs.promises[name] = async (...args) => {
    passing()
    const result = await real(...args)
    if (name === 'open') watch(Object.getPrototypeOf(result))
    return result
  }
}

let isWatched = false
function watch(handle) {
  if (isWatched) return
  isWatched = true
  for (const name of ['write', 'writev', 'sync', 'datasync', 'truncate', 'chmod', 'writeFile']) {
    const real = handle[name]
    handle[name] = function (...args) {
      passing(name === 'write' ? half(realWrite, [this.fd, ...args]) : undefined)
      return real.apply(this, args)
    }
  }
}
require('node:module').syncBuiltinESMExports()
if (COUNT_TO) process.on('exit', () => fs.appendFileSync(COUNT_TO, `${calls}\n`))
