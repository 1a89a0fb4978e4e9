// The messages of an ONNX file. A model holds one graph; a graph holds nodes and initializers; a node's attributes can hold tensors and
// further graphs. Only fields that lead to a tensor or to metadata are acted upon; the others have their name for the byte map.
import { message } from '../../wire/protobuf.js'

export const modelMessage = message({
  1: ['ir_version', 'varint'],
  2: ['producer_name', 'bytes'],
  3: ['producer_version', 'bytes'],
  4: ['domain', 'bytes'],
  5: ['model_version', 'varint'],
  6: ['doc_string', 'bytes'],
  7: ['graph', 'bytes'],
  8: ['opset_import', 'bytes'],
  14: ['metadata_props', 'bytes'],
  20: ['training_info', 'bytes'],
  25: ['functions', 'bytes'],
  26: ['configuration', 'bytes'],
})

export const graphMessage = message({
  1: ['node', 'bytes'],
  2: ['name', 'bytes'],
  5: ['initializer', 'bytes'],
  10: ['doc_string', 'bytes'],
  11: ['input', 'bytes'],
  12: ['output', 'bytes'],
  13: ['value_info', 'bytes'],
  14: ['quantization_annotation', 'bytes'],
  15: ['sparse_initializer', 'bytes'],
  16: ['metadata_props', 'bytes'],
})

export const nodeMessage = message({
  1: ['input', 'bytes'],
  2: ['output', 'bytes'],
  3: ['name', 'bytes'],
  4: ['op_type', 'bytes'],
  5: ['attribute', 'bytes'],
  6: ['doc_string', 'bytes'],
  7: ['domain', 'bytes'],
  8: ['overload', 'bytes'],
  9: ['metadata_props', 'bytes'],
  10: ['device_configurations', 'bytes'],
})

export const attributeMessage = message({
  1: ['name', 'bytes'],
  2: ['f', 'float'],
  3: ['i', 'varint'],
  4: ['s', 'bytes'],
  5: ['t', 'bytes'],
  6: ['g', 'bytes'],
  7: ['floats', 'floats'],
  8: ['ints', 'varints'],
  9: ['strings', 'bytes'],
  10: ['tensors', 'bytes'],
  11: ['graphs', 'bytes'],
  13: ['doc_string', 'bytes'],
  14: ['tp', 'bytes'],
  15: ['type_protos', 'bytes'],
  20: ['type', 'varint'],
  21: ['ref_attr_name', 'bytes'],
  22: ['sparse_tensor', 'bytes'],
  23: ['sparse_tensors', 'bytes'],
})

export const tensorMessage = message({
  1: ['dims', 'varints'],
  2: ['data_type', 'varint'],
  3: ['segment', 'bytes'],
  4: ['float_data', 'floats'],
  5: ['int32_data', 'varints'],
  6: ['string_data', 'bytes'],
  7: ['int64_data', 'varints'],
  8: ['name', 'bytes'],
  9: ['raw_data', 'bytes'],
  10: ['double_data', 'doubles'],
  11: ['uint64_data', 'varints'],
  12: ['doc_string', 'bytes'],
  13: ['external_data', 'bytes'],
  14: ['data_location', 'varint'],
  16: ['metadata_props', 'bytes'],
})

export const sparseMessage = message({
  1: ['values', 'bytes'],
  2: ['indices', 'bytes'],
  3: ['dims', 'varints'],
})

export const entryMessage = message({ 1: ['key', 'bytes'], 2: ['value', 'bytes'] })
export const opsetMessage = message({ 1: ['domain', 'bytes'], 2: ['version', 'varint'] })
export const valueInfoMessage = message({
  1: ['name', 'bytes'],
  2: ['type', 'bytes'],
  3: ['doc_string', 'bytes'],
  4: ['metadata_props', 'bytes'],
})

export const trainingMessage = message({
  1: ['initialization', 'bytes'],
  2: ['algorithm', 'bytes'],
  3: ['initialization_binding', 'bytes'],
  4: ['update_binding', 'bytes'],
})

export const functionMessage = message({
  1: ['name', 'bytes'],
  4: ['input', 'bytes'],
  5: ['output', 'bytes'],
  6: ['attribute', 'bytes'],
  7: ['node', 'bytes'],
  8: ['doc_string', 'bytes'],
  9: ['opset_import', 'bytes'],
  10: ['domain', 'bytes'],
  11: ['attribute_proto', 'bytes'],
  12: ['value_info', 'bytes'],
  13: ['overload', 'bytes'],
  14: ['metadata_props', 'bytes'],
})
