import { defineCodes, error, warning } from '../../errors/index.js'

/** What can be wrong with a zip archive, whatever is inside. */
export const zipCodes = defineCodes('zip', {
  'no-end': error('There is no end record, so this is not a zip archive or its end was cut off. Get the file again.'),
  comment: error('The archive comment runs past the end of the file, which was cut off. Get it again.'),
  'trailing-bytes': warning('There are bytes after the end record that do not belong to the archive.'),
  'several-ends': warning('The archive comment looks like another end record; readers disagree on which one counts.'),
  disks: error('The archive is one part of several. Join the parts first.'),
  zip64: error('The 64-bit records do not go with the 32-bit ones, or one of them is missing.'),
  prefix: warning('There are bytes before the archive; many readers refuse such a file.'),
  directory: error('The central directory is not where the end record says, or is damaged.'),
  'directory-size': error('The central directory is larger than the limit. Raise the limit if the file is honest.'),
  count: error('The end record announces a different number of members than the directory lists.'),
  'name-text': error('A member name is not UTF-8 although it is marked so, is empty, or holds a NUL.'),
  'name-path': warning('A member name leads out of the folder if the archive is unpacked. tare unpacks nothing.'),
  'duplicate-name': error('Two members have the same name; readers disagree on which one counts.'),
  encrypted: error('A member is encrypted. Decrypt the archive first.'),
  method: error('A member is compressed by a method other than deflate. Pack the archive again.'),
  ratio: error('A member claims more bytes than deflate can make of what is stored, so its size is a lie.'),
  size: error('A member has a different size than the directory says.'),
  'past-end': error('A member runs past the central directory or the end of the file.'),
  local: error('The local header of a member is missing or damaged.'),
  'local-differs': error(
    'The local header of a member contradicts the directory: scanners and loaders would see two different files.',
  ),
  descriptor: error('The record behind a member contradicts the directory.'),
  overlap: error('Two members share bytes, which is how small archives unpack to huge ones.'),
  gap: warning('There are bytes between members that belong to none of them.'),
  deflate: error('The compressed data are damaged.'),
  crc: error('The content of a member does not have the checksum that the directory gives: it was changed or damaged.'),
})
