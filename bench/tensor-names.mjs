/** As long as they can be for a million of them to fit into a header of safetensors, which has at most 100 MB. */
export const nameOf = (i) => `layers.${i % 80}.experts.${Math.floor(i / 80)}.up`
