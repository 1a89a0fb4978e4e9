// A quantized linear layer: y = x · w + bias, with weights and inputs of four bits. The module declares what there is, JSON fills it:
//
//   tare pack examples/quantized-linear.mjs#QuantizedLinear --json examples/quantized-linear.data.json -o linear.oinf
//
// quantized-linear.json is the same layer in one file. In TypeScript, wrap the object in `defineModel` from 'tare': a shape that names
// a size variable which is not declared then does not compile.

/** @type {import('tare').ModelDescription<'B' | 'D' | 'O'>} */
export const QuantizedLinear = {
  sizevars: { B: 2, D: null, O: null },
  metadata: {
    activation: 'none',
    bits: { value: 4, dtype: 'u8' },
    clip: { dtype: 'f32', shape: [2] },
    trained: { bitset: '1101' },
  },
  tensors: {
    w: { dtype: 'i4', shape: ['D', 'O'], quant: { scheme: 'symmetric', axis: 1, scales: [0.125, 0.25, 0.0625, 0.5] } },
    x: { dtype: 'i4', shape: ['B', 'D'], quant: { scheme: 'asymmetric', scales: 0.05, zeroPoints: -2 } },
    bias: { dtype: 'f32', shape: ['O'] },
    y: { dtype: 'i32', shape: ['B', 'O'], data: null },
  },
}
