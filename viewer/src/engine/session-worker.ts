// The entry of the session worker.
import { speakOfFlags } from 'tare/kit'
import { bytesHandlers } from './rooms/bytes/bytes.js'
import { compareHandlers } from './rooms/compare.js'
import { convertHandlers } from './rooms/convert.js'
import { labHandlers } from './rooms/lab/lab.js'
import { openHandlers } from './rooms/models/open.js'
import { sampleHandlers } from './rooms/models/samples.js'
import { codesHandlers } from './rooms/tensor/codes.js'
import { overviewHandlers } from './rooms/tensor/overview.js'
import { openedTensor, tensorHandlers } from './rooms/tensor/tensor.js'
import { tileHandlers } from './rooms/tensor/tiles.js'
import { tensorErrorHandlers } from './rooms/tensor-errors.js'
import { tensorsHandlers } from './rooms/tensors.js'
import { type Port, serveCalls } from './serve.js'

// Messages name the flags of the command, as everything here does that can be typed as well.
speakOfFlags()

const handlers = {
  ...openHandlers,
  ...sampleHandlers,
  ...overviewHandlers,
  ...tensorsHandlers,
  ...tensorHandlers,
  ...tensorErrorHandlers,
  ...tileHandlers(openedTensor),
  ...bytesHandlers,
  ...codesHandlers,
  ...compareHandlers,
  ...labHandlers,
  ...convertHandlers,
}

serveCalls(self as unknown as Port, handlers, 6)
