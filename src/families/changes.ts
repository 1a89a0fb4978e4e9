// What is done to the contents of a model on its way between a directory and GGUF, for the plan of a conversion.

export interface Change {
  readonly subject: 'tensor' | 'metadata' | 'part'
  readonly name: string
  readonly action: 'rename' | 'cast' | 'dequantize' | 'map' | 'add' | 'drop'
  readonly loss: 'none' | 'form' | 'precision' | 'content'
  readonly requested?: true
  readonly from?: string
  readonly to?: string
  readonly reason?: string
}
