// What a MessagePack value is in memory.

export interface MsgpackExt {
  /** The extension's type number, -128 to 127. */
  readonly ext: number
  readonly data: Uint8Array
}

/** A float with its width, where the difference to a whole number or to the other width matters. */
export interface MsgpackFloat {
  readonly float: 32 | 64
  readonly value: number
}

/** A string that is not UTF-8. */
export interface MsgpackRawText {
  readonly text: Uint8Array
}

export type MsgpackKey = string | number | bigint | boolean | null
export type MsgpackMap = Map<MsgpackKey, MsgpackNode>
export type MsgpackNode =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | MsgpackExt
  | MsgpackFloat
  | MsgpackRawText
  | MsgpackNode[]
  | MsgpackMap
