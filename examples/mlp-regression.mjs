// A multilayer perceptron for regression: y = relu(x · w1 + b1) · w2 + b2. Sizes and seed are fields that JSON can fill:
//
//   tare pack examples/mlp-regression.mjs#MlpRegression -o mlp.oinf
//   tare pack examples/mlp-regression.mjs#MlpRegression --json fields.json -o mlp.oinf      { "H": 64, "seed": 7 }
//
// mlp-regression.yaml is the same model with its weights in .npy files, which were made by `tare extract mlp.oinf w1 -o w1.npy`.

/** @param {{ B?: number, D?: number, H?: number, O?: number, seed?: number }} fields */
export function MlpRegression({ B = 4, D = 16, H = 32, O = 8, seed = 1 } = {}) {
  const normal = generator(seed)
  const weights = (count, scale) => Float32Array.from({ length: count }, () => scale * normal())
  /** @type {import('tare').ModelDescription<'B' | 'D' | 'H' | 'O'>} */
  const description = {
    sizevars: { B, D, H, O },
    tensors: {
      w1: { shape: ['D', 'H'], data: weights(D * H, 0.2) },
      b1: { shape: ['H'], data: weights(H, 0.05) },
      w2: { shape: ['H', 'O'], data: weights(H * O, 0.2) },
      b2: { shape: ['O'], data: weights(O, 0.05) },
    },
  }
  return description
}

/** Nearly normal numbers, the same on every machine: twelve uniform ones added up, from a generator that only multiplies and adds. */
function generator(seed) {
  let state = seed >>> 0
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return () => Array.from({ length: 12 }, uniform).reduce((sum, each) => sum + each, -6)
}
