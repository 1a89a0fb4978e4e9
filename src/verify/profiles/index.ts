// The list of profiles. Adding one means one file of data and one line here.
import { failWith, usageCodes } from '../../errors/index.js'
import type { Profile } from '../profile.js'
import { allMiniLmL6V2 } from './all-minilm-l6-v2.js'
import { bertBase } from './bert-base.js'

export const profiles: readonly Profile[] = [allMiniLmL6V2, bertBase]

/** The profile of this name, in any case; throws usage/option when there is none. */
export function requireProfile(name: string): Profile {
  const profile = profiles.find((each) => each.name.toLowerCase() === name.toLowerCase())
  if (profile) return profile
  const known = profiles.map((each) => each.name).join(', ')
  return failWith(usageCodes.option, {
    file: '--profile',
    message: `there is no profile "${name}"; known are ${known}`,
  })
}
