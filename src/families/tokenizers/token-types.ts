/** The kinds of tokens that GGUF has: `tokenizer.ggml.token_type`. */
export const tokenType = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const
