// A scheme is one way to store a weight as several tensors: codes, scales, zero points. It is declared by the names of these tensors, and by
// how rows of them become rows of values.
import type { Tensor } from '../model/index.js'
import { refusePacked, shapeOf } from './refusal.js'
import type { PackedMatrix } from './rows.js'
import type { Settings } from './settings.js'

export interface Scheme {
  /** What people call it: `gptq`. */
  readonly id: string
  /** Whether the configuration says that weights may be packed this way. */
  isIn(settings: Settings): boolean
  /** How the names of tensors end, after the name that they share. */
  readonly names: {
    readonly codes: string
    /** What the weight would be called if it were not packed. */
    readonly weight: string
    readonly beside: Readonly<Record<string, string>>
    readonly optional?: Readonly<Record<string, string>>
    /** Of no use for the weights themselves, such as scales of activations. */
    readonly unused?: readonly string[]
  }
  /** Whether the codes are of a type that the scheme has. */
  isCodes(codes: Tensor): boolean
  /** How many bits of the codes an element takes; undefined where the configuration does not say it. */
  bits(group: Members): number | undefined
  /** How many elements share a scale, in words: `group 128`. */
  sharing?(group: Members): string | undefined
  /** The shape of the weight, and how its rows are decoded. Reads nothing but what the shape depends on. */
  matrix(group: PackedWeight, signal?: AbortSignal): Promise<PackedMatrix> | PackedMatrix
}

export interface Members {
  readonly codes: Tensor
  /** The other tensors, by their part in the scheme. */
  readonly beside: Readonly<Record<string, Tensor | undefined>>
  readonly settings: Settings
}

/** The tensors that make up one weight. */
export interface PackedWeight extends Members {
  readonly scheme: Scheme
  /** The name of the weight. */
  readonly name: string
  readonly bits: number
}

/** `gptq 4-bit, group 128` */
export function describePacking(group: PackedWeight): string {
  const sharing = group.scheme.sharing?.(group)
  return [`${group.scheme.id} ${group.bits}-bit`, sharing].filter(Boolean).join(', ')
}

/** All tensors that make up a weight. */
export const membersOf = ({ codes, beside }: Members): readonly Tensor[] =>
  [codes, ...Object.values(beside)].filter((each) => each !== undefined)

/** The number of elements of the weight, padding included. */
export const packedElements = ({ codes, bits }: PackedWeight): number =>
  Math.floor(((codes.data?.byteLength ?? 0) * 8) / bits)

/** A tensor that the group has, with its dimensions. */
export function member(group: Members, part: string, rank?: number): Tensor {
  const tensor = part === 'codes' ? group.codes : group.beside[part]
  if (!tensor?.data) return refusePacked(tensor ?? group.codes, `${part} without data`)
  if (rank !== undefined && tensor.shape.length !== rank)
    refusePacked(tensor, `its shape is ${shapeOf(tensor)}; ${rank} dimensions were expected`)
  return tensor
}
