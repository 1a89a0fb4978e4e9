// Models to look at without having one. They are made when somebody asks for one, so that the page carries no files for them.
import type { Call } from '../../calls.js'
import type { Handlers } from '../../serve.js'

export type SampleName = 'values' | 'quantized' | 'damaged'

export interface SampleFile {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface SampleCalls {
  sample: Call<{ readonly name: SampleName }, SampleFile>
}

export const sampleHandlers: Handlers = {
  // What writes models is loaded with the first one.
  sample: async ({ name }: SampleCalls['sample']['ask']) => (await import('./make-sample.js')).makeSample(name),
}
