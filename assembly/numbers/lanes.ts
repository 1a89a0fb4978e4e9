// Vectors of one constant. V8 rebuilds constants of 16 bytes at every use, even within loops; what is loaded from memory stays in a register.
import { results } from './memory-map'

export function lanes32(value: u32): v128 {
  store<u32>(results, value)
  return v128.load_splat<u32>(results)
}

export function lanes16(value: u16): v128 {
  store<u16>(results, value)
  return v128.load_splat<u16>(results)
}
