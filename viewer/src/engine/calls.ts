// Everything that the page asks its workers, by name. Each room of the engine declares its own calls and handles them; here they come
// together, so that a request is checked against its answer by its name alone.
import type { OpenCalls } from './rooms/open.js'
import type { OverviewCalls } from './rooms/overview.js'
import type { SampleCalls } from './rooms/samples.js'
import type { TensorCalls } from './rooms/tensor.js'
import type { TensorsCalls } from './rooms/tensors.js'
import type { TileCalls } from './rooms/tiles.js'

/** One question: what is asked, and what is answered. */
export interface Call<Ask, Answer> {
  readonly ask: Ask
  readonly answer: Answer
}

export interface Calls extends OpenCalls, SampleCalls, OverviewCalls, TensorsCalls, TensorCalls, TileCalls {}

export type CallName = keyof Calls
