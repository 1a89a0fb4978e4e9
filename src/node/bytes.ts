import { registerByteEquality } from '../kernels/equal-bytes.js'

/** Makes everything in this process compare bytes with the system's own `memcmp`: several times as fast as loops. */
export const registerNodeBytes = (): void => registerByteEquality((a, b) => Buffer.compare(a, b) === 0)
