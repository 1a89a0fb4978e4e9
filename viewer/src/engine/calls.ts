// Everything that the page asks its workers, by name. Each room of the engine declares its own calls and handles them; here they come
// together, so that a request is checked against its answer by its name alone.
import type { BytesCalls } from './rooms/bytes/bytes.js'
import type { CompareCalls } from './rooms/compare.js'
import type { ConvertCalls } from './rooms/convert.js'
import type { LabCalls } from './rooms/lab/lab.js'
import type { OpenCalls } from './rooms/models/open.js'
import type { SampleCalls } from './rooms/models/samples.js'
import type { CodesCalls } from './rooms/tensor/codes.js'
import type { OverviewCalls } from './rooms/tensor/overview.js'
import type { TensorCalls } from './rooms/tensor/tensor.js'
import type { TileCalls } from './rooms/tensor/tiles.js'
import type { TensorErrorCalls } from './rooms/tensor-errors.js'
import type { TensorsCalls } from './rooms/tensors.js'

/** One question: what is asked, and what is answered. */
export interface Call<Ask, Answer> {
  readonly ask: Ask
  readonly answer: Answer
}

export interface Calls
  extends OpenCalls,
    SampleCalls,
    OverviewCalls,
    TensorsCalls,
    TensorCalls,
    TensorErrorCalls,
    TileCalls,
    BytesCalls,
    CodesCalls,
    CompareCalls,
    LabCalls,
    ConvertCalls {}

export type CallName = keyof Calls
