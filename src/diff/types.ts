// What a comparison of two models gives: plain data that is also the JSON of `tare diff`. Only what differs is listed; the rest is counted.
import type { Dim, JsonValue } from '../model/index.js'

/**
 * What is different about a tensor, the gravest first:
 * - `missing`, `extra`: only the first or only the second model has it
 * - `shape`: the dimensions differ; values are not compared
 * - `data`: one of the two is declared without data
 * - `values`: numbers differ, whether or not the element type does
 * - `type`: the element type or the scales beside the tensor differ; the numbers do not, or `reason` says why nobody knows
 * - `bytes`: the same type in different bytes; the numbers are equal (minus zero, the bits of a NaN, another way to quantize the same), or
 *   `reason` says why nobody knows
 * - `renamed`: the same content under another name
 */
export type TensorChange = (typeof tensorChanges)[number]

export const tensorChanges = ['missing', 'extra', 'shape', 'data', 'values', 'type', 'bytes', 'renamed'] as const

/** One side of a tensor that differs. */
export interface TensorSide {
  readonly name: string
  /** What the bytes mean: the type inside a packed tensor where it is known. */
  readonly dtype: string
  readonly shape: readonly Dim[]
  /** Stored bytes; null when the tensor is declared without data. */
  readonly bytes: number | null
  readonly quant?: JsonValue
}

/** How far the numbers of two tensors are apart. Elements are counted in row-major order, whatever the order of the stored bytes. */
export interface ValueDifference {
  readonly count: number
  /** Elements that are not the same number. */
  readonly differing: number
  /** Elements that are further apart than the tolerance allows, where there is one for single elements. */
  readonly beyond?: number
  /** Of those that differ, the ones that are NaN or infinite on one side, or infinite with opposite signs. */
  readonly nonFinite: number
  /** The first element that differs, as a row-major number and by its coordinates; null when none does. */
  readonly first: number | null
  readonly firstAt: readonly number[] | null
  /** The largest |a − b|, and where it is. */
  readonly maxAbs: number
  readonly maxAbsAt: readonly number[] | null
  /** The largest |a − b| / max(|a|, |b|). */
  readonly maxRel: number
  /** These three are over the elements that are finite on both sides; the first model is the signal. */
  readonly rmse: number
  readonly snr: number | null
  readonly cosine: number | null
}

export interface TensorDifference {
  /** In the first model, or in the second where only that has it. */
  readonly name: string
  readonly change: TensorChange
  /** Close enough by the tolerance that was given: shown, but not counted as a difference. */
  readonly close?: true
  readonly a?: TensorSide
  readonly b?: TensorSide
  readonly values?: ValueDifference
  /** The first stored byte that differs, for `bytes`. */
  readonly firstByte?: number
  /** Why the numbers were not compared. */
  readonly reason?: string
}

/** `value`: another value. `type`: the same value as another type, such as 8 as u32 and as i64. */
export interface MetadataDifference {
  readonly key: string
  readonly change: 'missing' | 'extra' | 'value' | 'type'
  readonly close?: true
  /** In the form of `inspect`. */
  readonly a?: JsonValue
  readonly b?: JsonValue
  /** Of two lists, the first item that differs. */
  readonly first?: number
}

export interface PartDifference {
  readonly kind: string
  readonly name?: string
  readonly change: 'missing' | 'extra' | 'value' | 'bytes'
  readonly a?: JsonValue
  readonly b?: JsonValue
  /** The first byte that differs, or the first token of two vocabularies. */
  readonly first?: number
  readonly reason?: string
}

export interface DifferenceCounts {
  readonly equal: number
  /** In both, and different beyond what the tolerance allows. */
  readonly changed: number
  /** In both, and close enough. */
  readonly close: number
  readonly missing: number
  readonly extra: number
  readonly renamed: number
}

/** Two models compared. `file` and `format` are those of the first. */
export interface Difference {
  readonly file: string
  readonly format: string
  readonly variant?: string
  readonly other: { readonly file: string; readonly format: string; readonly variant?: string }
  /** Nothing differs beyond what the tolerance allows. */
  readonly equal: boolean
  readonly summary: {
    readonly tensors: DifferenceCounts
    /** Absent when they were not compared. */
    readonly metadata?: Omit<DifferenceCounts, 'renamed'>
    readonly parts?: Omit<DifferenceCounts, 'renamed' | 'close'>
  }
  /** The gravest first. */
  readonly tensors: readonly TensorDifference[]
  readonly metadata: readonly MetadataDifference[]
  readonly parts: readonly PartDifference[]
}
