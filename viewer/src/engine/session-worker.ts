// The entry of the session worker.
import { speakOfFlags } from 'tare/kit'
import { bytesHandlers } from './rooms/bytes.js'
import { codesHandlers } from './rooms/codes.js'
import { compareHandlers } from './rooms/compare.js'
import { convertHandlers } from './rooms/convert.js'
import { labHandlers } from './rooms/lab.js'
import { openHandlers } from './rooms/open.js'
import { overviewHandlers } from './rooms/overview.js'
import { sampleHandlers } from './rooms/samples.js'
import { openedTensor, tensorHandlers } from './rooms/tensor.js'
import { tensorsHandlers } from './rooms/tensors.js'
import { tileHandlers } from './rooms/tiles.js'
import { type Port, serveCalls } from './serve.js'

// Messages name the flags of the command, as everything here does that can be typed as well.
speakOfFlags()

const handlers = {
  ...openHandlers,
  ...sampleHandlers,
  ...overviewHandlers,
  ...tensorsHandlers,
  ...tensorHandlers,
  ...tileHandlers(openedTensor),
  ...bytesHandlers,
  ...codesHandlers,
  ...compareHandlers,
  ...labHandlers,
  ...convertHandlers,
}

serveCalls(self as unknown as Port, handlers, 6)
