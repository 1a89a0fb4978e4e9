// Writes blake3-mix.ts, the seven rounds of BLAKE3 on four independent blocks at once: vector i holds word i of all four. The rounds are
// written out because every message word is then a load from a fixed address; a loop that looks the addresses up is a quarter slower.

const rounds = 7
const permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]

/** Which words of the state are mixed together: first the columns of the 4 by 4 square, then its diagonals. */
const quarters = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
]

// Rotating by whole bytes is a permutation of bytes. A swizzle, whose pattern V8 keeps in a register, is faster than a shuffle, whose pattern
// it rebuilds at every use.
const head = `
@inline function rotate16(x: v128): v128 { return i8x16.swizzle(x, i8x16(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)) }
@inline function rotate12(x: v128): v128 { return v128.or(i32x4.shr_u(x, 12), i32x4.shl(x, 20)) }
@inline function rotate8(x: v128): v128 { return i8x16.swizzle(x, i8x16(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12)) }
@inline function rotate7(x: v128): v128 { return v128.or(i32x4.shr_u(x, 7), i32x4.shl(x, 25)) }
`

// The message is added before the word that was computed last, so that the sum is ready when that word is.
function mixQuarter([a, b, c, d], first, second) {
  const half = (word, rotateD, rotateB) => `
  v${a} = i32x4.add(i32x4.add(v${a}, v128.load(block, ${16 * word})), v${b})
  v${d} = ${rotateD}(v128.xor(v${d}, v${a}))
  v${c} = i32x4.add(v${c}, v${d})
  v${b} = ${rotateB}(v128.xor(v${b}, v${c}))`
  return half(first, 'rotate16', 'rotate12') + half(second, 'rotate8', 'rotate7')
}

function mixRounds() {
  let schedule = [...permutation.keys()]
  let text = ''
  for (let round = 0; round < rounds; round++) {
    text += quarters.map((words, i) => mixQuarter(words, schedule[2 * i], schedule[2 * i + 1])).join('')
    schedule = permutation.map((from) => schedule[from])
  }
  return text
}

const words = [0, 1, 2, 3, 4, 5, 6, 7]

export default `${head}
/** Updates the chaining values at \`values\`, 8 vectors, with the message at \`block\`, 16 vectors. */
export function mix(values: usize, block: usize, counter: v128, counterHigh: i32, length: i32, flags: i32): void {
  ${words.map((i) => `let v${i} = v128.load(values, ${16 * i})`).join('\n  ')}
  let v8 = i32x4.splat(0x6a09e667)
  let v9 = i32x4.splat(0xbb67ae85)
  let v10 = i32x4.splat(0x3c6ef372)
  let v11 = i32x4.splat(0xa54ff53a)
  let v12 = counter
  let v13 = i32x4.splat(counterHigh)
  let v14 = i32x4.splat(length)
  let v15 = i32x4.splat(flags)
  ${mixRounds()}
  ${words.map((i) => `v128.store(values, v128.xor(v${i}, v${i + 8}), ${16 * i})`).join('\n  ')}
}
`
