// The bytes of a tensor from those of the base and what a delta has for it. Both sides are compared with their digests while they pass; when
// one does not match, the output is given up before it is visible.
import { defaultWindow, toHex } from '../bytes/index.js'
import { createHasher, type Hasher } from '../digest/index.js'
import { failWith } from '../errors/index.js'
import { lazyPayload, type Payload, rechunked } from '../model/index.js'
import { type ChecksumName, createChecksum } from './checksums.js'
import { deltaCodes } from './codes.js'
import { fromPlanes, planeBlock } from './planes.js'
import { type PackedPlace, unpacked } from './unpack.js'
import { xorInto } from './xor.js'

export interface TensorRecipe extends PackedPlace {
  readonly length: number
  readonly base?: Payload | undefined
  /** Absent: the bytes are those of the base. */
  readonly packed?: Payload | undefined
  readonly width?: number | undefined
  /** The name of the base, for messages. */
  readonly baseName: string
  /** Digests of both sides, where they are stated. */
  readonly baseDigest?: string | undefined
  readonly newDigest?: string | undefined
  /** What the delta states by its public form. */
  readonly checksum?: { readonly name: ChecksumName; readonly value: string } | undefined
}

export const restoredTensor = (recipe: TensorRecipe): Payload =>
  lazyPayload(recipe.length, (signal) => restore({ ...recipe, signal }))

async function* restore(recipe: TensorRecipe): AsyncGenerator<Uint8Array, void, void> {
  const { length, base, packed, width, signal } = recipe
  const checks = await Checks.start(recipe)
  const old = base?.chunks(defaultWindow, signal)[Symbol.asyncIterator]()
  try {
    const windows = packed ? rechunked(unpacked(packed, length, recipe), planeBlock) : zeros(length)
    for await (const window of windows) {
      const bytes = new Uint8Array(window.byteLength)
      if (width) fromPlanes(window, bytes, width)
      else bytes.set(window)
      const next = await old?.next()
      const before = next?.done ? undefined : next?.value
      if (before) checks.base?.update(before)
      xorInto(bytes, before)
      checks.update(bytes)
      yield bytes
    }
  } finally {
    await old?.return?.()
  }
  checks.compare(recipe)
}

async function* zeros(length: number): AsyncGenerator<Uint8Array, void, void> {
  for (let left = length; left > 0; left -= planeBlock) yield new Uint8Array(Math.min(left, planeBlock))
}

class Checks {
  readonly base: Hasher | undefined
  readonly #next: Hasher | undefined
  readonly #sum: Awaited<ReturnType<typeof createChecksum>> | undefined

  constructor(
    base: Hasher | undefined,
    next: Hasher | undefined,
    sum: Awaited<ReturnType<typeof createChecksum>> | undefined,
  ) {
    this.base = base
    this.#next = next
    this.#sum = sum
  }

  static async start({ baseDigest, newDigest, checksum }: TensorRecipe): Promise<Checks> {
    return new Checks(
      baseDigest === undefined ? undefined : await createHasher('blake3'),
      newDigest === undefined ? undefined : await createHasher('blake3'),
      checksum && (await createChecksum(checksum.name)),
    )
  }

  update(bytes: Uint8Array): void {
    this.#next?.update(bytes)
    this.#sum?.update(bytes)
  }

  compare({ baseDigest, newDigest, checksum, baseName, file, path }: TensorRecipe): void {
    if (this.base && toHex(this.base.digest()) !== baseDigest) {
      const message = 'its bytes are not those that the delta was made from'
      failWith(deltaCodes['wrong-base'], { file: baseName, path, message })
    }
    const isWrong =
      (this.#next && toHex(this.#next.digest()) !== newDigest) || (this.#sum && this.#sum.digest() !== checksum!.value)
    if (!isWrong) return
    const message =
      baseDigest === undefined
        ? 'what comes out does not have the checksum that it should have: the base is another one, or the delta is damaged'
        : 'what comes out does not have the digest that it should have: the delta is damaged'
    failWith(deltaCodes['wrong-result'], { file, path, message })
  }
}
