export { wideNumbers } from '../../kernels/ggml/layouts.js'
export * from './types.js'
