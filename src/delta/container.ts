/** A delta is a file of this format, whatever the formats of the models are. */
export { safetensors as container } from '../formats/safetensors/index.js'
