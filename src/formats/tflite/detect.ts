/** TFL3, behind the offset of the root table. */
const mark = [0x54, 0x46, 0x4c, 0x33]

export const hasMark = (head: Uint8Array): boolean => mark.every((byte, i) => head[4 + i] === byte)
