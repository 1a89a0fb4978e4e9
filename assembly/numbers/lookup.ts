// Codes of 8, 6, 4, 2 and 1 bit to f32. For each byte that can occur a table has the values of all codes in it, lowest bits first, so that a
// byte costs one look-up: of 4, 8, 16 or 32 bytes. Two codes of 6 bits are looked up together.
import { table } from './room'

/** `size` is bytes of the source; a multiple of four, of twelve for 6 bits. */
export function lookUp(bits: i32, source: usize, target: usize, size: i32): void {
  if (bits === 8) lookUp8(source, target, size)
  else if (bits === 6) lookUp6(source, target, size)
  else if (bits === 4) lookUp4(source, target, size)
  else if (bits === 2) lookUp2(source, target, size)
  else lookUp1(source, target, size)
}

function lookUp8(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 4) {
    store<u32>(target, load<u32>((<usize>load<u8>(source)) << 2, table))
    store<u32>(target, load<u32>((<usize>load<u8>(source, 1)) << 2, table), 4)
    store<u32>(target, load<u32>((<usize>load<u8>(source, 2)) << 2, table), 8)
    store<u32>(target, load<u32>((<usize>load<u8>(source, 3)) << 2, table), 12)
    target += 16
  }
}

function lookUp6(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 12) {
    const first = load<u64>(source)
    const last = load<u64>(source, 4) >> 8
    store<u64>(target, load<u64>((<usize>(first & 0xfff)) << 3, table))
    store<u64>(target, load<u64>((<usize>((first >> 12) & 0xfff)) << 3, table), 8)
    store<u64>(target, load<u64>((<usize>((first >> 24) & 0xfff)) << 3, table), 16)
    store<u64>(target, load<u64>((<usize>((first >> 36) & 0xfff)) << 3, table), 24)
    store<u64>(target, load<u64>((<usize>((last >> 8) & 0xfff)) << 3, table), 32)
    store<u64>(target, load<u64>((<usize>((last >> 20) & 0xfff)) << 3, table), 40)
    store<u64>(target, load<u64>((<usize>((last >> 32) & 0xfff)) << 3, table), 48)
    store<u64>(target, load<u64>((<usize>((last >> 44) & 0xfff)) << 3, table), 56)
    target += 64
  }
}

function lookUp4(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 4) {
    store<u64>(target, load<u64>((<usize>load<u8>(source)) << 3, table))
    store<u64>(target, load<u64>((<usize>load<u8>(source, 1)) << 3, table), 8)
    store<u64>(target, load<u64>((<usize>load<u8>(source, 2)) << 3, table), 16)
    store<u64>(target, load<u64>((<usize>load<u8>(source, 3)) << 3, table), 24)
    target += 32
  }
}

function lookUp2(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 4) {
    v128.store(target, v128.load((<usize>load<u8>(source)) << 4, table))
    v128.store(target, v128.load((<usize>load<u8>(source, 1)) << 4, table), 16)
    v128.store(target, v128.load((<usize>load<u8>(source, 2)) << 4, table), 32)
    v128.store(target, v128.load((<usize>load<u8>(source, 3)) << 4, table), 48)
    target += 64
  }
}

function lookUp1(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 2) {
    const first = (<usize>load<u8>(source)) << 5
    const second = (<usize>load<u8>(source, 1)) << 5
    v128.store(target, v128.load(first, table))
    v128.store(target, v128.load(first, table + 16), 16)
    v128.store(target, v128.load(second, table), 32)
    v128.store(target, v128.load(second, table + 16), 48)
    target += 64
  }
}
