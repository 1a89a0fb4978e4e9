import type { Profile } from '../profile.js'
import { bertEncoder, encoderMetadata } from './bert-encoder.js'

export const bertBase: Profile = {
  name: 'bert-base',
  title: 'BERT base, uncased',
  dimensions: { vocab: 30522, positions: 512, types: 2, hidden: 768, intermediate: 3072, layers: 12, heads: 12 },
  dtypes: ['f32'],
  tensors: bertEncoder,
  metadata: encoderMetadata,
  vocabulary: 'vocab',
}
