export { embedCodes } from './codes.js'
export {
  cosineSimilarity,
  createEmbedder,
  type Embedder,
  type EmbedderOptions,
  type Embedding,
  type EmbedOptions,
} from './embedder.js'
export type { EncoderOptions, EncoderShape } from './encoder.js'
export {
  type Batch,
  type EmbedEngine,
  type EngineSession,
  type OnnxEngineOptions,
  type OnnxRuntime,
  onnxEngine,
  type WithModel,
} from './engine.js'
export type { EmbedProfile } from './graph.js'
export { type OnnxExportOptions, onnxExportRefusal, onnxModelLayout } from './onnx-export.js'
