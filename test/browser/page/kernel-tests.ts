// The tests of the compiled kernels, for a page: each family with its plain twins, as in Node.
import './buffer.js'
import { digestsModule } from '../../../src/kernels/digests/index.js'
import { ggmlModule } from '../../../src/kernels/ggml/compiled.js'
import { mcfModule } from '../../../src/kernels/mcf/compiled.js'
import { numbersModule } from '../../../src/kernels/numbers/module.js'
import { forgetCollected, type Outcome, runCollected } from './vitest.js'

const files: Readonly<Record<string, () => Promise<unknown>>> = {
  'numbers: statistics': () => import('../../kernels/numbers/stats/compiled.test.js'),
  'numbers: decoding and encoding': () => import('../../kernels/numbers/convert.test.js'),
  'numbers: comparing': () => import('../../kernels/numbers/compare-compiled.test.js'),
  'numbers: turning matrices': () => import('../../kernels/numbers/transpose.test.js'),
  mcf: () => import('../../kernels/mcf/mcf.test.js'),
  ggml: () => import('../../kernels/ggml/decode-compiled.test.js'),
  'digests: BLAKE3': () => import('../../digest/blake3.test.js'),
  'digests: CRC-32': () => import('../../digest/crc32.test.js'),
}

export const families = (): string[] => Object.keys(files)

/** Which of the compiled modules run here. */
export const running = (): Record<string, boolean> => ({
  numbers: numbersModule() !== undefined,
  mcf: mcfModule() !== undefined,
  ggml: ggmlModule() !== undefined,
  digests: digestsModule() !== undefined,
})

export async function runFamily(family: string): Promise<Outcome[]> {
  forgetCollected()
  await files[family]!()
  return runCollected()
}
