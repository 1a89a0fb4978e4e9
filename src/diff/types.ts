// The result of comparing two models: plain data, and the JSON of `tare diff`. Only differences are listed; everything else is counted.
import type { Dim, JsonValue } from '../model/index.js'

/**
 * How a tensor differs, worst first:
 * - `missing`, `extra`: only the first or only the second model has it
 * - `shape`: the dimensions differ; values are not compared
 * - `data`: one of the two is declared without data
 * - `values`: numbers differ, whether or not the element type does
 * - `type`: the element type or the scales beside the tensor differ; the numbers are equal, or `reason` says why that is unknown
 * - `bytes`: the same type in different bytes; the numbers are equal (minus zero, the bits of a NaN, another quantization of the same
 *   values), or `reason` says why that is unknown
 * - `renamed`: the same content under another name
 */
export type TensorChange = (typeof tensorChanges)[number]

export const tensorChanges = ['missing', 'extra', 'shape', 'data', 'values', 'type', 'bytes', 'renamed'] as const

/** One side of a tensor that differs. */
export interface TensorSide {
  readonly name: string
  /** The meaning of the bytes: the inner type of a packed tensor if it is known. */
  readonly dtype: string
  readonly shape: readonly Dim[]
  /** Stored bytes; null when the tensor is declared without data. */
  readonly bytes: number | null
  readonly quant?: JsonValue
}

/** How far apart the numbers of two tensors are. Elements are counted in row-major order, whatever the order of the stored bytes. */
export interface ValueDifference {
  readonly count: number
  /** Elements with different values. */
  readonly differing: number
  /** Elements that exceed the tolerance, if there is one for single elements. */
  readonly beyond?: number
  /** Of those that differ, the ones that are NaN or infinite on one side only, or infinite with opposite signs. */
  readonly nonFinite: number
  /** The first element that differs, as a row-major index and by its coordinates; null if none does. */
  readonly first: number | null
  readonly firstAt: readonly number[] | null
  /** The largest |a − b|, and where it is. */
  readonly maxAbs: number
  readonly maxAbsAt: readonly number[] | null
  /** The largest |a − b| / max(|a|, |b|). */
  readonly maxRel: number
  /** These three cover the elements that are finite on both sides; the first model is the signal. */
  readonly rmse: number
  readonly snr: number | null
  readonly cosine: number | null
}

export interface TensorDifference {
  /** The name in the first model, or in the second if only that has it. */
  readonly name: string
  readonly change: TensorChange
  /** Within the tolerance: shown, but not counted as a difference. */
  readonly close?: true
  readonly a?: TensorSide
  readonly b?: TensorSide
  readonly values?: ValueDifference
  /** The first stored byte that differs, for `bytes`. */
  readonly firstByte?: number
  /** Why the numbers were not compared. */
  readonly reason?: string
}

/** `value`: the values differ. `type`: the same value with another type, such as 8 as u32 and as i64. */
export interface MetadataDifference {
  readonly key: string
  readonly change: 'missing' | 'extra' | 'value' | 'type'
  readonly close?: true
  /** In the form that `inspect` uses. */
  readonly a?: JsonValue
  readonly b?: JsonValue
  /** For lists, the index of the first item that differs. */
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
  /** In both models, and different beyond the tolerance. */
  readonly changed: number
  /** In both models, and within the tolerance. */
  readonly close: number
  readonly missing: number
  readonly extra: number
  readonly renamed: number
}

/** The comparison of two models. `file` and `format` are those of the first. */
export interface Difference {
  readonly file: string
  readonly format: string
  readonly variant?: string
  readonly other: { readonly file: string; readonly format: string; readonly variant?: string }
  /** Nothing differs beyond the tolerance. */
  readonly equal: boolean
  readonly summary: {
    readonly tensors: DifferenceCounts
    /** Absent when they were not compared. */
    readonly metadata?: Omit<DifferenceCounts, 'renamed'>
    readonly parts?: Omit<DifferenceCounts, 'renamed' | 'close'>
  }
  /** Worst first. */
  readonly tensors: readonly TensorDifference[]
  readonly metadata: readonly MetadataDifference[]
  readonly parts: readonly PartDifference[]
}
