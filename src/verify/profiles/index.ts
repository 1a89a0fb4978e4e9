// The profiles that `verify --profile` knows. A new one is an object and an entry in the list.
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
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

const bertBase: Profile = {
  name: 'bert-base',
  title: 'BERT base, uncased',
  dimensions: { vocab: 30522, positions: 512, types: 2, hidden: 768, intermediate: 3072, layers: 12, heads: 12 },
  dtypes: ['f32'],
  tensors: bertEncoder,
  metadata: encoderMetadata,
  vocabulary: 'vocab',
}

export const profiles: readonly Profile[] = [allMiniLmL6V2, bertBase]

/** The profile with this name, ignoring case; throws usage/option when there is none. */
export function requireProfile(name: string): Profile {
  const profile = profiles.find((each) => each.name.toLowerCase() === name.toLowerCase())
  if (profile) return profile
  const known = profiles.map((each) => each.name).join(', ')
  return failWith(usageCodes.option, {
    file: callerWord('--profile', 'profile'),
    message: `there is no profile "${name}"; known are ${known}`,
  })
}
