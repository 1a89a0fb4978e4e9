// The entry of a tile worker: it reads ranges of files, and knows nothing about models.
import { placedTensor } from './rooms/tensor/tensor.js'
import { tileHandlers } from './rooms/tensor/tiles.js'
import { type Port, serveCalls } from './serve.js'

serveCalls(self as unknown as Port, tileHandlers(placedTensor), 2)
