// What the tests of the kernels, and hash-wasm once there is a Buffer, use of it. Pages that run the library itself do not load this: there it
// must do without.

const compare = (a: Uint8Array, b: Uint8Array): number =>
  a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i]) ? 0 : 1

const from = (bytes: Uint8Array) => ({
  toString: () => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
})

Object.assign(globalThis, { Buffer: { compare, from, isBuffer: () => false } })
