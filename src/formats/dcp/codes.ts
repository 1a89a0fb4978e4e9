import { defineCodes, error, note, warning } from '../../errors/index.js'

export const codes = defineCodes('dcp', {
  'part-alone': error('This is one file of a distributed checkpoint. Open its directory, or the file .metadata in it.'),
  'metadata-size': error('The file .metadata is larger than the limit. Raise the limit if the file is honest.'),
  metadata: error('The file .metadata is not made as PyTorch makes it.'),
  'trailing-bytes': warning('There are bytes after the pickle in .metadata; something may be hidden there.'),
  tensor: error('A tensor is described in a way that PyTorch does not write.'),
  dtype: error('A tensor has an element type that tare does not read.'),
  'shape-overflow': error('The dimensions multiply to more than any file can hold.'),
  'chunk-bounds': error('A chunk reaches outside its tensor.'),
  'chunk-hole': error('The chunks of a tensor do not cover all of it.'),
  'chunk-overlap': error('Chunks of a tensor overlap, or interlock in a way that PyTorch does not write.'),
  'chunk-tensor': error('What is stored for a chunk is not the tensor that .metadata describes.'),
  'chunk-order': error('A chunk is compressed and too large to be kept in memory.'),
  'item-missing': error('.metadata does not say where a chunk or an object is stored.'),
  'item-repeated': error('.metadata says twice where something is stored.'),
  'item-bounds': error('A chunk or an object lies outside its file. The file was cut off; get it again.'),
  'item-overlap': error('Two things are stored in the same place.'),
  'item-path': error('.metadata names a file outside its own directory. It was not opened.'),
  'item-transformed': error('Chunks are compressed or encrypted by an extension, which is not read.'),
  'item-unused': note('The files hold chunks or objects that .metadata does not describe.'),
  'file-missing': error('A file that .metadata names is not there or cannot be read.'),
  'objects-size': error(
    'The objects beside the tensors are larger than the limit. Raise the limit if the files are honest.',
  ),
})
