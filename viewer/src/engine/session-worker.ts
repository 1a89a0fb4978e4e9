// The entry of the session worker.
import { bytesHandlers } from './rooms/bytes.js'
import { codesHandlers } from './rooms/codes.js'
import { compareHandlers } from './rooms/compare.js'
import { convertHandlers } from './rooms/convert.js'
import { labHandlers } from './rooms/lab.js'
import { openHandlers } from './rooms/open.js'
import { overviewHandlers } from './rooms/overview.js'
import { type Port, serveCalls } from './serve.js'

serveCalls(
  self as unknown as Port,
  {
    ...openHandlers,
    ...overviewHandlers,
    ...bytesHandlers,
    ...codesHandlers,
    ...compareHandlers,
    ...labHandlers,
    ...convertHandlers,
  },
  6,
)
