// The tests of the compiled kernels, for a page: each family with its plain twins, as in Node.
import './buffer.js'
import { compiledDigests } from '../../../src/digest/digests-wasm.js'
import { hasCompiled } from '../../../src/dtypes/ggml/compiled.js'
import { numbersModule } from '../../../src/kernels/numbers.js'
import { wasmModule } from '../../../src/kernels/wasm.js'
import { forgetCollected, type Outcome, runCollected } from './vitest.js'

const files: Readonly<Record<string, () => Promise<unknown>>> = {
  'numbers: statistics': () => import('../../kernels/numbers-stats.test.js'),
  'numbers: decoding and encoding': () => import('../../kernels/numbers-convert.test.js'),
  'numbers: comparing': () => import('../../kernels/numbers-compare.test.js'),
  'numbers: turning matrices': () => import('../../kernels/transpose.test.js'),
  mcf: () => import('../../kernels/mcf.test.js'),
  ggml: () => import('../../dtypes/ggml/compiled.test.js'),
  'digests: BLAKE3': () => import('../../digest/blake3.test.js'),
  'digests: CRC-32': () => import('../../digest/crc32.test.js'),
}

export const families = (): string[] => Object.keys(files)

/** Which of the compiled modules run here. */
export const running = (): Record<string, boolean> => ({
  numbers: numbersModule() !== undefined,
  mcf: wasmModule() !== undefined,
  ggml: hasCompiled(),
  digests: compiledDigests() !== undefined,
})

export async function runFamily(family: string): Promise<Outcome[]> {
  forgetCollected()
  await files[family]!()
  return runCollected()
}
