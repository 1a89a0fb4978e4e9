// The compiler behind puts constants of 16 bytes together anew each time they are used, also within loops. What comes from memory stays in
// a register.
import { results } from './room'

export function lanes32(value: u32): v128 {
  store<u32>(results, value)
  return v128.load_splat<u32>(results)
}

export function lanes16(value: u16): v128 {
  store<u16>(results, value)
  return v128.load_splat<u16>(results)
}
