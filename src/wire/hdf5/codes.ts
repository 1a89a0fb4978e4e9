import { defineCodes, error, note, warning } from '../../errors/index.js'

/** What can be wrong with an HDF5 file, no matter which program wrote it. */
export const hdf5Codes = defineCodes('hdf5', {
  magic: error('The file does not begin like an HDF5 file.'),
  version: error('A structure has a version that HDF5 did not define when this was written.'),
  sizes: error('Addresses or lengths are neither 4 nor 8 bytes wide. No library writes such files.'),
  truncated: error('The file is shorter than its superblock says. It was cut off; get it again.'),
  'trailing-bytes': warning('There are bytes after the end that the superblock states. They are ignored.'),
  outside: error('An address or a length leads out of the file. It was cut off, or is damaged.'),
  index: error(
    'The structures are larger than the limit on index bytes, or there are more texts, paths or chunks than an honest file has.',
  ),
  structure: error('A structure does not begin with its signature, or does not hold together.'),
  checksum: error('A structure does not have the checksum that it states: it was changed or damaged.'),
  overlap: error('Two structures, or the data of two datasets, share bytes.'),
  name: error('The name of a link or an attribute is empty, too long, or not UTF-8.'),
  'duplicate-name': error('Two links of a group have the same name.'),
  depth: error('Groups are nested deeper than the limit.'),
  'group-again': warning('A group is linked from several places. It is listed in the first one only.'),
  link: warning('A link leads to another file or is a path of its own. Such links are not followed; nor does Keras.'),
  datatype: error('The description of an element type does not hold together.'),
  dataspace: error('The dimensions of a dataset are missing, or multiply to more than any file can hold.'),
  nothing: note('A dataset is declared to hold nothing, as h5py writes `Empty`. It was left out.'),
  layout: error('What a dataset says about the place of its data does not go with its type and shape.'),
  unwritten: error('A dataset is declared, but its data were never written.'),
  chunks: error('The chunks of a dataset are not those that its shape needs.'),
  'chunk-size': error('A chunk is too large to be unpacked in memory, or larger than its stored bytes can unpack to.'),
  'chunk-data': error('The data of a chunk are damaged: they do not unpack, or do not have their checksum.'),
  unsupported: error('The file uses a feature of HDF5 that Keras does not write and tare does not read.'),
  'attribute-unread': note('The value of an attribute is of a kind that tare does not read. It was left out.'),
})
