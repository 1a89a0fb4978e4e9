/** What a byte can be: part of a field, of the weights, padding, or claimed by nothing. */
export const byteKinds = ['field', 'data', 'padding', 'gap'] as const
export type ByteKind = (typeof byteKinds)[number]
