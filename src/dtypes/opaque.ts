import type { DType } from './dtype.js'

/** Bytes whose meaning only the container knows. The shape does not tell how many there are. */
export const packed: DType = {
  id: 'packed',
  kind: 'opaque',
  group: { elements: 1, bytes: 1 },
  byteLength: () => undefined,
}

export const opaques: readonly DType[] = [packed]
