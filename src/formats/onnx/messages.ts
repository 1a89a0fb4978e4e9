// The messages of an ONNX file. A model holds one graph; a graph holds nodes and initializers; a node's attributes can hold tensors and
// further graphs. Only fields that lead to a tensor or to metadata are acted upon; the others are walked to see that they are in order, and
// have a name for the byte map.
import { type MessageSpec, message } from '../../wire/protobuf/protobuf.js'

export const modelMessage = message({
  1: ['ir_version', 'varint'],
  2: ['producer_name', 'bytes'],
  3: ['producer_version', 'bytes'],
  4: ['domain', 'bytes'],
  5: ['model_version', 'varint'],
  6: ['doc_string', 'bytes'],
  7: ['graph', 'bytes', () => graphMessage],
  8: ['opset_import', 'bytes', () => opsetMessage],
  14: ['metadata_props', 'bytes', () => entryMessage],
  20: ['training_info', 'bytes', () => trainingMessage],
  25: ['functions', 'bytes', () => functionMessage],
  26: ['configuration', 'bytes'],
})

export const graphMessage: MessageSpec = message({
  1: ['node', 'bytes', () => nodeMessage],
  2: ['name', 'bytes'],
  5: ['initializer', 'bytes', () => tensorMessage],
  10: ['doc_string', 'bytes'],
  11: ['input', 'bytes', () => valueInfoMessage],
  12: ['output', 'bytes', () => valueInfoMessage],
  13: ['value_info', 'bytes', () => valueInfoMessage],
  14: ['quantization_annotation', 'bytes', () => annotationMessage],
  15: ['sparse_initializer', 'bytes', () => sparseMessage],
  16: ['metadata_props', 'bytes', () => entryMessage],
})

export const nodeMessage: MessageSpec = message({
  1: ['input', 'bytes'],
  2: ['output', 'bytes'],
  3: ['name', 'bytes'],
  4: ['op_type', 'bytes'],
  5: ['attribute', 'bytes', () => attributeMessage],
  6: ['doc_string', 'bytes'],
  7: ['domain', 'bytes'],
  8: ['overload', 'bytes'],
  9: ['metadata_props', 'bytes', () => entryMessage],
  10: ['device_configurations', 'bytes'],
})

export const attributeMessage: MessageSpec = message({
  1: ['name', 'bytes'],
  2: ['f', 'float'],
  3: ['i', 'varint'],
  4: ['s', 'bytes'],
  5: ['t', 'bytes', () => tensorMessage],
  6: ['g', 'bytes', () => graphMessage],
  7: ['floats', 'floats'],
  8: ['ints', 'varints'],
  9: ['strings', 'bytes'],
  10: ['tensors', 'bytes', () => tensorMessage],
  11: ['graphs', 'bytes', () => graphMessage],
  13: ['doc_string', 'bytes'],
  14: ['tp', 'bytes', () => typeMessage],
  15: ['type_protos', 'bytes', () => typeMessage],
  20: ['type', 'varint'],
  21: ['ref_attr_name', 'bytes'],
  22: ['sparse_tensor', 'bytes', () => sparseMessage],
  23: ['sparse_tensors', 'bytes', () => sparseMessage],
})

export const tensorMessage = message({
  1: ['dims', 'varints'],
  2: ['data_type', 'varint'],
  3: ['segment', 'bytes', () => segmentMessage],
  4: ['float_data', 'floats'],
  5: ['int32_data', 'varints'],
  6: ['string_data', 'bytes'],
  7: ['int64_data', 'varints'],
  8: ['name', 'bytes'],
  9: ['raw_data', 'bytes'],
  10: ['double_data', 'doubles'],
  11: ['uint64_data', 'varints'],
  12: ['doc_string', 'bytes'],
  13: ['external_data', 'bytes', () => entryMessage],
  14: ['data_location', 'varint'],
  16: ['metadata_props', 'bytes', () => entryMessage],
})

export const sparseMessage = message({
  1: ['values', 'bytes', () => tensorMessage],
  2: ['indices', 'bytes', () => tensorMessage],
  3: ['dims', 'varints'],
})

export const entryMessage = message({ 1: ['key', 'bytes'], 2: ['value', 'bytes'] })
export const opsetMessage = message({ 1: ['domain', 'bytes'], 2: ['version', 'varint'] })
const segmentMessage = message({ 1: ['begin', 'varint'], 2: ['end', 'varint'] })
export const annotationMessage = message({
  1: ['tensor_name', 'bytes'],
  2: ['quant_parameter_tensor_names', 'bytes', () => entryMessage],
})

export const valueInfoMessage = message({
  1: ['name', 'bytes'],
  2: ['type', 'bytes', () => typeMessage],
  3: ['doc_string', 'bytes'],
  4: ['metadata_props', 'bytes', () => entryMessage],
})

const typeMessage: MessageSpec = message({
  1: ['tensor_type', 'bytes', () => tensorTypeMessage],
  4: ['sequence_type', 'bytes', () => elementTypeMessage],
  5: ['map_type', 'bytes', () => mapTypeMessage],
  6: ['denotation', 'bytes'],
  7: ['opaque_type', 'bytes'],
  8: ['sparse_tensor_type', 'bytes', () => tensorTypeMessage],
  9: ['optional_type', 'bytes', () => elementTypeMessage],
})
const elementTypeMessage = message({ 1: ['elem_type', 'bytes', () => typeMessage] })
const mapTypeMessage = message({ 1: ['key_type', 'varint'], 2: ['value_type', 'bytes', () => typeMessage] })
const tensorTypeMessage = message({ 1: ['elem_type', 'varint'], 2: ['shape', 'bytes', () => shapeMessage] })
const shapeMessage = message({ 1: ['dim', 'bytes', () => dimMessage] })
const dimMessage = message({ 1: ['dim_value', 'varint'], 2: ['dim_param', 'bytes'], 3: ['denotation', 'bytes'] })

export const trainingMessage = message({
  1: ['initialization', 'bytes', () => graphMessage],
  2: ['algorithm', 'bytes', () => graphMessage],
  3: ['initialization_binding', 'bytes', () => entryMessage],
  4: ['update_binding', 'bytes', () => entryMessage],
})

export const functionMessage = message({
  1: ['name', 'bytes'],
  4: ['input', 'bytes'],
  5: ['output', 'bytes'],
  6: ['attribute', 'bytes'],
  7: ['node', 'bytes', () => nodeMessage],
  8: ['doc_string', 'bytes'],
  9: ['opset_import', 'bytes', () => opsetMessage],
  10: ['domain', 'bytes'],
  11: ['attribute_proto', 'bytes', () => attributeMessage],
  12: ['value_info', 'bytes', () => valueInfoMessage],
  13: ['overload', 'bytes'],
  14: ['metadata_props', 'bytes', () => entryMessage],
})
