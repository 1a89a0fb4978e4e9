// Where the encoders keep what they work on: the last of the pages of the arena that are no windows. Addresses that are known at compile
// time go into the instructions.
const room: usize = 31 * 65536

/** Numbers that fill a vector. The compiler behind puts constants of 16 bytes together anew at each use; what comes from memory stays in a register. */
const splats: usize = room
/** A block as f64. From each value its weight is this far, and so is the value moved to where the smallest of its sub-block is zero. */
export const values: usize = room + 1024
export const toWeight: usize = 2048
export const toShifted: usize = 4096
/** A code per byte. */
export const codes: usize = values + 6144
/** What was found for each sub-block. */
export const scales: usize = codes + 256
export const mins: usize = scales + 128
export const scaleSteps: usize = mins + 128
export const minSteps: usize = scaleSteps + 16
/** The factors to try, and what came of four of them. */
export const factors: usize = minSteps + 16
export const triedScales: usize = factors + 256
export const triedOffsets: usize = triedScales + 32
export const gains: usize = triedOffsets + 32
/** Errors of four scales with each of three minimums. */
export const errors: usize = gains + 32

/** The same number in both lanes, through memory. */
export function both(value: f64): v128 {
  store<f64>(splats, value)
  return v128.load64_splat(splats)
}

/** Makes f64 of a block. */
export function widenBlock(source: usize): void {
  for (let i: usize = 0; i < 256; i += 4) {
    const four = v128.load(source + 4 * i)
    v128.store(values + 8 * i, f64x2.promote_low_f32x4(four))
    v128.store(values + 8 * i, f64x2.promote_low_f32x4(i32x4.shuffle(four, four, 2, 3, 0, 1)), 16)
  }
}
