// The entry of the session worker.
import { openHandlers } from './rooms/open.js'
import { overviewHandlers } from './rooms/overview.js'
import { type Port, serveCalls } from './serve.js'

serveCalls(self as unknown as Port, { ...openHandlers, ...overviewHandlers }, 6)
