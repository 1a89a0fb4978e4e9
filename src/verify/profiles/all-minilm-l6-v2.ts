import type { Profile } from '../profile.js'
import { bertEncoder, encoderMetadata } from './bert-encoder.js'

export const allMiniLmL6V2: Profile = {
  name: 'all-MiniLM-L6-v2',
  title: 'sentence-transformers/all-MiniLM-L6-v2',
  dimensions: { vocab: 30522, positions: 512, types: 2, hidden: 384, intermediate: 1536, layers: 6, heads: 12 },
  dtypes: ['f32'],
  tensors: bertEncoder,
  metadata: encoderMetadata,
  vocabulary: 'vocab',
}
