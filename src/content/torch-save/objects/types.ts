// How PyTorch calls its element types: by a storage class, or by a dtype when the storage is untyped.
import { type DType, dtypeById } from '../../../dtypes/index.js'

const require = (id: string): DType => {
  const dtype = dtypeById(id)
  if (!dtype) throw new Error(`no element type ${id}`)
  return dtype
}

const table = (rows: Readonly<Record<string, string>>): ReadonlyMap<string, DType> =>
  new Map(Object.entries(rows).map(([name, id]) => [name, require(id)]))

/** `torch.FloatStorage` and so on. Those with a Q hold the whole numbers of quantized tensors. */
export const storageTypes = table({
  DoubleStorage: 'f64',
  FloatStorage: 'f32',
  HalfStorage: 'f16',
  BFloat16Storage: 'bf16',
  LongStorage: 'i64',
  IntStorage: 'i32',
  ShortStorage: 'i16',
  CharStorage: 'i8',
  ByteStorage: 'u8',
  BoolStorage: 'bool',
  ComplexFloatStorage: 'c64',
  ComplexDoubleStorage: 'c128',
  QInt8Storage: 'i8',
  QUInt8Storage: 'u8',
  QInt32Storage: 'i32',
})

/** Storages of quantized elements of which several share a byte. They count bytes; the shape of a tensor counts elements. */
export const packedStorages = table({ QUInt4x2Storage: 'u4', QUInt2x4Storage: 'u2' })

/** Types that PyTorch counts by bytes with two elements each; in the shape of a tensor the elements count. */
export const packedTypes = table({ float4_e2m1fn_x2: 'f4_e2m1' })

/** Storages that count bytes; the tensors on them say what the elements are. */
export const untypedStorages: ReadonlySet<string> = new Set(['UntypedStorage', '_UntypedStorage'])

/** `torch.float16` and so on. */
export const elementTypes = table({
  float64: 'f64',
  double: 'f64',
  float32: 'f32',
  float: 'f32',
  float16: 'f16',
  half: 'f16',
  bfloat16: 'bf16',
  int64: 'i64',
  long: 'i64',
  int32: 'i32',
  int: 'i32',
  int16: 'i16',
  short: 'i16',
  int8: 'i8',
  uint64: 'u64',
  uint32: 'u32',
  uint16: 'u16',
  uint8: 'u8',
  bool: 'bool',
  complex32: 'c32',
  chalf: 'c32',
  complex64: 'c64',
  cfloat: 'c64',
  complex128: 'c128',
  cdouble: 'c128',
  float8_e4m3fn: 'f8_e4m3',
  float8_e5m2: 'f8_e5m2',
  float8_e4m3fnuz: 'f8_e4m3fnuz',
  float8_e5m2fnuz: 'f8_e5m2fnuz',
  float8_e8m0fnu: 'f8_e8m0',
  // Bits without a meaning, and small elements that PyTorch counts by bytes.
  bits8: 'u8',
  bits16: 'u16',
  bits1x8: 'u8',
  bits2x4: 'u8',
  bits4x2: 'u8',
})

/** How PyTorch calls an element type when it writes it. */
export interface TorchType {
  /** `FloatStorage`; the newer types have none, their storages count bytes. */
  readonly storage: string | undefined
  /** `float32` */
  readonly name: string
  /** Elements that one of PyTorch's holds. */
  readonly pack: number
}

/** By the id of the type. */
export const torchTypes: ReadonlyMap<string, TorchType> = new Map([
  // Where a type has two names, the first one is what PyTorch writes.
  ...[...elementTypes]
    .toReversed()
    .map(([name, { id }]): [string, TorchType] => [id, { storage: storageOf(id), name, pack: 1 }]),
  ...[...packedTypes].map(([name, { id, group }]): [string, TorchType] => [
    id,
    { storage: undefined, name, pack: group.elements },
  ]),
])

function storageOf(id: string): string | undefined {
  return [...storageTypes].find(([, dtype]) => dtype.id === id)?.[0]
}

/** The storages of quantized tensors. */
export const quantizedStorages: ReadonlyMap<string, string> = new Map([
  ['i8', 'QInt8Storage'],
  ['u8', 'QUInt8Storage'],
  ['i32', 'QInt32Storage'],
  ['u4', 'QUInt4x2Storage'],
])

/** Names of the module `torch` that stand for a value: types that tare has no use for, layouts, schemes of quantization. */
export const otherConstants: ReadonlySet<string> = new Set(
  `qint8 quint8 qint32 quint4x2 quint2x4 uint1 uint2 uint3 uint4 uint5 uint6 uint7 int1
  int2 int3 int4 int5 int6 int7 strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc per_tensor_affine per_channel_affine
  per_tensor_symmetric per_channel_symmetric per_channel_affine_float_qparams contiguous_format channels_last channels_last_3d
  preserve_format`.split(/\s+/),
)
