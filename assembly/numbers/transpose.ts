// Rows to columns, in tiles of 64 bytes by as many rows. A tile reads and writes whole cache lines, each once: rows are often a power of two
// apart and would otherwise compete for the same places in the cache. Within a tile, blocks of 16 bytes by as many rows are transposed
// by interleaving the first half of the rows with the second half until each has become a column.
import { transposed, transposedBlocks } from './memory-map'

const line: usize = 64

/**
 * `lines` rows of `width` elements of 1, 2, 4, 8 or 16 bytes become `width` rows of `lines`. Pitches are bytes from row to row, `step` bytes
 * from element to element in the target.
 */
export function transpose(
  size: i32,
  source: usize,
  pitch: usize,
  target: usize,
  targetPitch: usize,
  step: usize,
  lines: usize,
  width: usize,
): void {
  const edge: usize = line / size
  if (size > 8 || step > <usize>size || lines < edge || width < edge) {
    for (let first: usize = 0; first < lines; first += line) {
      moveOneByOne(size, source, pitch, target, targetPitch, step, min(line, lines - first), width)
      source += line * pitch
      target += line * step
    }
    return
  }
  // The last tile of a row or column is moved back to end with it, and repeats a part of the one before.
  for (let first: usize = 0; first < lines; first += edge) {
    const at = min(first, lines - edge)
    for (let column: usize = 0; column < width; column += edge) {
      const from = min(column, width - edge)
      transposeTile(size, source + at * pitch + from * size, pitch)
      writeTile(target + from * targetPitch + at * size, targetPitch, edge)
    }
  }
}

function transposeTile(size: i32, source: usize, pitch: usize): void {
  const perBlock: usize = 16 / size
  for (let block: usize = 0; block < 16; block++) {
    const from = source + (block >> 2) * perBlock * pitch + ((block & 3) << 4)
    const to = transposed + (block & 3) * perBlock * line + ((block >> 2) << 4)
    if (size === 4) transpose4(from, pitch, to)
    else if (size === 2) transpose2(from, pitch, to)
    else if (size === 1) transpose1(from, pitch, to)
    else transpose8(from, pitch, to)
  }
}

function writeTile(target: usize, pitch: usize, rows: usize): void {
  for (let from = transposed; from < transposed + rows * line; from += line) {
    v128.store(target, v128.load(from))
    v128.store(target, v128.load(from, 16), 16)
    v128.store(target, v128.load(from, 32), 32)
    v128.store(target, v128.load(from, 48), 48)
    target += pitch
  }
}

function transpose8(source: usize, pitch: usize, target: usize): void {
  const a = v128.load(source)
  const b = v128.load(source + pitch)
  v128.store(target, i64x2.shuffle(a, b, 0, 2))
  v128.store(target, i64x2.shuffle(a, b, 1, 3), line)
}

function transpose4(source: usize, pitch: usize, target: usize): void {
  const a = v128.load(source)
  const b = v128.load(source + pitch)
  const c = v128.load(source + 2 * pitch)
  const d = v128.load(source + 3 * pitch)
  const ac = i32x4.shuffle(a, c, 0, 4, 1, 5)
  const bd = i32x4.shuffle(b, d, 0, 4, 1, 5)
  const acHigh = i32x4.shuffle(a, c, 2, 6, 3, 7)
  const bdHigh = i32x4.shuffle(b, d, 2, 6, 3, 7)
  v128.store(target, i32x4.shuffle(ac, bd, 0, 4, 1, 5))
  v128.store(target, i32x4.shuffle(ac, bd, 2, 6, 3, 7), line)
  v128.store(target, i32x4.shuffle(acHigh, bdHigh, 0, 4, 1, 5), 2 * line)
  v128.store(target, i32x4.shuffle(acHigh, bdHigh, 2, 6, 3, 7), 3 * line)
}

function transpose2(source: usize, pitch: usize, target: usize): void {
  interleave2(source, pitch, transposedBlocks, 16)
  interleave2(transposedBlocks, 16, transposedBlocks + 256, 16)
  interleave2(transposedBlocks + 256, 16, target, line)
}

function interleave2(source: usize, pitch: usize, target: usize, targetPitch: usize): void {
  for (let i = 0; i < 4; i++) {
    const a = v128.load(source)
    const b = v128.load(source + 4 * pitch)
    v128.store(target, i16x8.shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11))
    v128.store(target + targetPitch, i16x8.shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15))
    source += pitch
    target += 2 * targetPitch
  }
}

function transpose1(source: usize, pitch: usize, target: usize): void {
  interleave1(source, pitch, transposedBlocks, 16)
  interleave1(transposedBlocks, 16, transposedBlocks + 256, 16)
  interleave1(transposedBlocks + 256, 16, transposedBlocks, 16)
  interleave1(transposedBlocks, 16, target, line)
}

function interleave1(source: usize, pitch: usize, target: usize, targetPitch: usize): void {
  for (let i = 0; i < 8; i++) {
    const a = v128.load(source)
    const b = v128.load(source + 8 * pitch)
    v128.store(target, i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23))
    v128.store(target + targetPitch, i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
    source += pitch
    target += 2 * targetPitch
  }
}

/** For what is smaller than a tile in one direction, is not contiguous, or has elements of 16 bytes. */
function moveOneByOne(
  size: i32,
  source: usize,
  pitch: usize,
  target: usize,
  targetPitch: usize,
  step: usize,
  lines: usize,
  width: usize,
): void {
  for (let column: usize = 0; column < width; column++) {
    let from = source + column * size
    let to = target + column * targetPitch
    for (const end = to + lines * step; to < end; to += step) {
      if (size === 4) store<u32>(to, load<u32>(from))
      else if (size === 2) store<u16>(to, load<u16>(from))
      else if (size === 1) store<u8>(to, load<u8>(from))
      else if (size === 8) store<u64>(to, load<u64>(from))
      else v128.store(to, v128.load(from))
      from += pitch
    }
  }
}
