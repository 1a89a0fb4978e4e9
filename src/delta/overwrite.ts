// The other encoding of the public form: the number of bytes that changed (u32), their positions (u32 each, ascending), and the new bytes.
import { defaultWindow } from '../bytes/index.js'
import { failWith } from '../errors/index.js'
import { lazyPayload, type Payload } from '../model/index.js'
import { isZstdFault, maxZstdHeader, parseZstdHeader } from '../wire/zstd/zstd.js'
import { createChecksum } from './checksums.js'
import { deltaCodes } from './codes.js'
import type { TensorRecipe } from './restore-tensor.js'
import type { Spool } from './spool.js'
import { unpacked } from './unpack.js'

const countBytes = 4
const perChange = 5

/** The new bytes of a tensor, of which the base has all others. */
export const overwrittenTensor = (recipe: TensorRecipe, spool: Spool): Payload =>
  lazyPayload(recipe.length, (signal) => overwrite({ ...recipe, signal }, spool))

async function* overwrite(recipe: TensorRecipe, spool: Spool): AsyncGenerator<Uint8Array, void, void> {
  const { length, file, path, signal } = recipe
  const [base, packed] = [recipe.base!, recipe.packed!]
  const refuse = (message: string): never => failWith(deltaCodes.damaged, { file, path, message })
  const size = await contentSize(packed, refuse)
  if (size > countBytes + perChange * length) refuse(`${size} bytes are more than a tensor of ${length} can change in`)
  const list = await spool.add(unpacked(packed, size, recipe))
  const count = size < countBytes ? 0 : word(await list.read!(0, countBytes, signal), 0)
  if (size !== countBytes + perChange * count) refuse(`${count} changes do not take ${size} bytes`)
  const changes = changesIn(list, count, signal)
  const sum = recipe.checksum && (await createChecksum(recipe.checksum.name))
  let next = await changes.next()
  let start = 0
  let last = -1
  for await (const chunk of base.chunks(defaultWindow, signal)) {
    const bytes = Uint8Array.from(chunk)
    while (!next.done && next.value.at < start + bytes.byteLength) {
      if (next.value.at <= last) refuse('the positions do not ascend')
      last = next.value.at
      bytes[last - start] = next.value.byte
      next = await changes.next()
    }
    start += bytes.byteLength
    sum?.update(bytes)
    yield bytes
  }
  if (!next.done) refuse(`position ${next.value.at} is behind the end of the tensor`)
  if (!sum || sum.digest() === recipe.checksum!.value) return
  const message =
    'what comes out does not have the checksum that it should have: the base is another one, or the delta is damaged'
  failWith(deltaCodes['wrong-result'], { file, path, message })
}

async function contentSize(packed: Payload, refuse: (message: string) => never): Promise<number> {
  const header = parseZstdHeader(await packed.read!(0, Math.min(maxZstdHeader, packed.byteLength)))
  if (isZstdFault(header)) return refuse(header.message)
  return header.contentSize ?? refuse('the frame does not state its size')
}

const word = (bytes: Uint8Array, at: number): number =>
  bytes[at]! + bytes[at + 1]! * 2 ** 8 + bytes[at + 2]! * 2 ** 16 + bytes[at + 3]! * 2 ** 24

/** Positions and bytes lie apart; both are read some thousands at a time. */
async function* changesIn(
  list: Payload,
  count: number,
  signal?: AbortSignal,
): AsyncGenerator<{ at: number; byte: number }, void, void> {
  const step = 1 << 16
  for (let done = 0; done < count; done += step) {
    const some = Math.min(step, count - done)
    const positions = await list.read!(countBytes + 4 * done, 4 * some, signal)
    const values = await list.read!(countBytes + 4 * count + done, some, signal)
    for (let i = 0; i < some; i++) yield { at: word(positions, 4 * i), byte: values[i]! }
  }
}
