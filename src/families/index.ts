export { advised } from './to-gguf/advice.js'
export { type ToGgufOptions, type Translated, toGguf } from './to-gguf/convert.js'
export { isOutputType, type OutputType } from './to-gguf/element-types.js'
export { type ToHubOptions, toHub } from './to-hub/convert.js'
