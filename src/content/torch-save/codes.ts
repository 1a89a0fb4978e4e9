import { defineCodes, error, joinCodes, note, warning } from '../../errors/index.js'
import { pickleCodes } from '../../wire/pickle/codes.js'

export const codes = defineCodes('torch', {
  magic: error('This is neither a zip archive nor the older kind of PyTorch file.'),
  'protocol-version': error('The file states a version of the old format that PyTorch never wrote.'),
  'system-info': error('The third part of the file does not describe the machine that wrote it.'),
  version: error(
    'The record "version" is missing or none from 1 to 10. PyTorch refuses such an archive; a lenient reader takes it.',
  ),
  'version-taken': warning('The record "version" is missing or none from 1 to 10; PyTorch refuses such an archive.'),
  tar: error('This is a tar archive, as the first releases of PyTorch wrote them. Load it there and save it again.'),
  'byte-order': error('The byteorder record says neither "little" nor "big".'),
  truncated: error('The file ends before its storages do. It was cut off; get it again.'),
  archive: error('The archive has no data.pkl, so it is not a PyTorch file.'),
  'archive-size': error('The model in a TorchServe archive is compressed and too large to be unpacked in memory.'),
  'archive-root': error('Members lie outside the one top folder that a PyTorch file has. PyTorch refuses such a file.'),
  'pickle-size': error('The pickle is larger than the limit. Raise the limit if the file is honest.'),
  'pickle-trailing': warning('There are bytes after the pickle; something may be hidden there.'),
  'trailing-bytes': warning('There are bytes after the last storage that belong to none.'),
  'unsafe-global': error(
    'The file names something that does harm or may do so when a Python program loads it. tare runs nothing; do not load this file.',
  ),
  'unknown-global': warning(
    'The file holds objects of a class that tare does not know. Nothing of it was run; what is plain data in it was read.',
  ),
  'stored-global': warning(
    'The file stores a function of another program without calling it. Loading the file imports that program; tare does not.',
  ),
  torchscript: note('This is a TorchScript archive: its weights are read, its code is not.'),
  'byte-order-unstated': warning(
    'A TorchScript archive of an older PyTorch does not say in which byte order its weights are. They are taken for little-endian.',
  ),
  'persistent-id': error('A reference to a storage is not made as PyTorch makes them.'),
  'storage-type': error('There is no such type of storage.'),
  'storage-missing': error('A storage that tensors refer to is not in the file.'),
  'storage-size': error('A storage has a different size than the tensors on it announce.'),
  'storage-keys': error('The list of storages is not made as PyTorch makes it, or names one that nothing refers to.'),
  'metadata-record': warning('The metadata that tare keeps beside the pickle is not in the form that tare writes.'),
  'skipped-data': error(
    'The file was saved without the data of its storages (torch.serialization.skip_data): there are zeros, or anything, in place of the weights.',
  ),
  'unused-record': note('Storages are in the file that no tensor refers to.'),
  'tensor-arguments': error('A tensor is described in a way that PyTorch does not understand.'),
  bounds: error('A tensor reaches outside its storage.'),
  'shape-overflow': error('The dimensions multiply to more than any file can hold.'),
  'unsupported-tensor': error('There is a tensor of a kind that tare cannot read. A lenient reader leaves it out.'),
  'unsupported-tensor-left-out': warning('A tensor of a kind that tare cannot read was left out.'),
  quantized: warning(
    'Tensors are quantized: their whole numbers are read, with scale and zero point beside them, or as two more tensors where each channel has its own.',
  ),
  meta: note('Tensors were saved from the meta device, without data.'),
  'tensor-key': note('A dictionary has tensors as keys. Their values are read under the name "object".'),
  'default-dict': note('A defaultdict is read as the dictionary that it is; what it makes of absent keys is not kept.'),
  sparse: warning('A sparse tensor: its indices and values are read as tensors of their own.'),
  nested: warning('A nested tensor: its elements are read as one tensor, their sizes, strides and offsets as others.'),
  expanded: error(
    'A small storage is expanded to a tensor of enormous size. A lenient reader allows more, up to the limit on expansion; raise it if the file is honest.',
  ),
  'expanded-taken': warning('A small storage is expanded to a tensor of enormous size; it is made piece by piece.'),
  cycle: warning('An object contains itself. The inner occurrence was left out.'),
  'shared-paths': error('A few objects hold each other so that there are more ways to the tensors than can be listed.'),
  depth: error('The objects are nested deeper than the limit.'),
  'same-name': warning(
    'Two things have the same name once their keys are joined by dots. One of them is shown with a number behind it.',
  ),
  'index-shape': error('The index file lacks a weight_map of tensor names to file names.'),
  'shard-path': error('The index names a file outside its own directory. It was not opened.'),
  'shard-missing': error('A shard that the index names is not there or cannot be read.'),
  'shard-tensor-missing': error('The index places a tensor in a shard that does not hold it.'),
  'shard-tensor-extra': warning(
    'A shard holds a tensor that the index does not know; readers that follow the index never see it.',
  ),
  'total-size': warning('metadata.total_size in the index is not the sum of the tensor bytes.'),
})

/** With those of pickles; listed by their full name, since keys could be the same. */
export const allTorchCodes = joinCodes(pickleCodes, codes)
