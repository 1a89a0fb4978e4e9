/** Normally distributed values, always the same for a seed. */
export function fillNormal(values, seed = 1, deviation = 1) {
  let state = seed
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return ((state >>> 0) + 0.5) / 2 ** 32
  }
  for (let i = 0; i + 1 < values.length; i += 2) {
    const radius = deviation * Math.sqrt(-2 * Math.log(next()))
    const angle = 2 * Math.PI * next()
    values[i] = radius * Math.cos(angle)
    values[i + 1] = radius * Math.sin(angle)
  }
  return values
}

/** Page-aligned memory, as the windows are that files are read into. */
export const alignedBytes = (size) =>
  new Uint8Array(new WebAssembly.Memory({ initial: Math.ceil(size / 65536) }).buffer).subarray(0, size)
