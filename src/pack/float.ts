/**
 * A number that is a float although it is integral. JavaScript does not distinguish 1.0 from 1, but the inferred element type depends on
 * it.
 */
export class Float {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/** Marks a number of a description as a float: `lr: asFloat(1)` is stored as f32, `lr: 1` as u8. */
export const asFloat = (value: number): Float => new Float(value)
