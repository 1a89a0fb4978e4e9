// What PyTorch's restricted loader (`weights_only=True`) takes. It imports nothing but these names, and knows the opcodes of protocol 2.
import type { Pickle, PickleGlobal } from '../../wire/pickle/pickle.js'
import { elementTypes, otherConstants, packedStorages, packedTypes, storageTypes } from './objects/types.js'

const names = new Set([
  'collections.OrderedDict',
  'collections.Counter',
  'torch.nn.parameter.Parameter',
  'torch.serialization._get_layout',
  'torch.Size',
  'torch.Tensor',
  'torch.device',
  '_codecs.encode',
  ...['bytearray', 'set', 'complex'].flatMap((name) => [`builtins.${name}`, `__builtin__.${name}`]),
  ...[...storageTypes.keys(), ...packedStorages.keys()].flatMap((name) => [`torch.${name}`, `torch.cuda.${name}`]),
  'torch.storage.UntypedStorage',
  ...[...elementTypes.keys(), ...packedTypes.keys(), ...otherConstants].map((name) => `torch.${name}`),
  ...[
    '_rebuild_parameter',
    '_rebuild_parameter_with_state',
    '_rebuild_qtensor',
    '_rebuild_tensor',
    '_rebuild_tensor_v2',
    '_rebuild_tensor_v3',
    '_rebuild_sparse_tensor',
    '_rebuild_meta_tensor_no_storage',
    '_rebuild_nested_tensor',
  ].map((name) => `torch._utils.${name}`),
  'torch._tensor._rebuild_from_type_v2',
])

export const isLoadableName = ({ fullName }: PickleGlobal): boolean => names.has(fullName)

export const isLoadable = ({ globals, protocol }: Pickle): boolean => protocol === 2 && globals.every(isLoadableName)
