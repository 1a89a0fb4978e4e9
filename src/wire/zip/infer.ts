// Where the data of members lie, going by the directory alone. Members follow one another without gaps, so the data of a stored one end
// where the next header begins, or a descriptor before that. Over a network this takes the place of a request for each local header.
import type { ZipMember } from './member.js'
import { descriptors, flagBits, hasFlag, localHeader } from './structs.js'

const maxExtra = 0xffff

/**
 * Sets the places of the data of stored members and gives those members. `members` are in the order of the file, `limit` is where the directory
 * begins. A descriptor has one of several lengths: it is the one that makes the data begin on a multiple of `alignment`. Members that leave
 * a choice, and those whose place fits no header, are left out.
 */
export function inferPlaces(members: readonly ZipMember[], limit: number, alignment: number): ZipMember[] {
  return members.filter((member, i) => {
    const { headerOffset, nameLength, storedSize, flags, isDeflated } = member
    if (isDeflated) return false
    const end = members[i + 1]?.headerOffset ?? limit
    const behind = hasFlag(flags, flagBits.descriptor) ? [...descriptors.keys()] : [0]
    const places = behind
      .map((length) => end - length - storedSize)
      .filter((place) => {
        const extra = place - headerOffset - localHeader.size - nameLength
        return place % alignment === 0 && extra >= 0 && extra <= maxExtra
      })
    if (places.length !== 1) return false
    member.dataOffset = places[0]!
    return true
  })
}
