// The entry of the session worker.
import { openHandlers } from './rooms/open.js'
import { overviewHandlers } from './rooms/overview.js'
import { tensorsHandlers } from './rooms/tensors.js'
import { type Port, serveCalls } from './serve.js'

const handlers = {
  ...openHandlers,
  ...overviewHandlers,
  ...tensorsHandlers,
}

serveCalls(self as unknown as Port, handlers, 6)
