// All methods on one tensor take seconds: a tile worker measures them, so that the session worker goes on answering.
import { type MethodPoint, measureMethods, type Tensor } from 'tare/kit'
import type { CallContext } from '../../serve.js'

export interface MeasuredTensor {
  readonly points: readonly MethodPoint[]
  readonly isSample: boolean
}

export async function measureTensor(tensor: Tensor, { signal, progress }: CallContext): Promise<MeasuredTensor> {
  const onProgress = ({ done, total }: { done: number; total: number }): void => progress({ done, total })
  const { points, isSample } = await measureMethods(tensor, { signal, onProgress })
  return { points, isSample }
}
