// The checks that look at every byte. The footer holds the CRC of the data section and the CRC of everything before the footer; the
// second one is put together from the first and those of the parts around it, so that each byte is read and summed up once.
import { type ByteSource, streamRange } from '../../bytes/index.js'
import { combineCrc32 } from '../../digest/crc32.js'
import { createHasher } from '../../digest/index.js'
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model } from '../../model/index.js'
import { checkTokens } from './check-tokens.js'
import { codes } from './codes.js'
import { hex, readCrc32 } from './crc.js'
import { fileOf, type Range, type SectionedFile } from './parts.js'
import { footer } from './structs.js'

/** The checksum finds so much still in the nearest caches when it was just read. */
const window = 1 << 19

export async function check(model: Model, context: CheckContext): Promise<void> {
  const { report } = context
  checkTokens(model, context)
  const file = fileOf(model)
  const source = model.files[0]
  if (!file || !source) return
  if (file.layout === 'stream' || !file.checksums) {
    const why = file.layout === 'stream' ? 'the stream layout has no checksums' : 'this sectioned file has no checksums'
    report.report(verifyCodes['no-checksums'], {
      message: `${why}; compare with \`tare hash\` of a copy that you trust`,
    })
  }
  if (file.layout === 'stream') return
  const padding = new PaddingCheck(file.padding, context)
  if (file.checksums && file.footer) await checkSums(file, file.footer, source, padding, context)
  else await padding.readAll(source)
}

async function checkSums(
  file: SectionedFile,
  stored: NonNullable<SectionedFile['footer']>,
  source: ByteSource,
  padding: PaddingCheck,
  context: CheckContext,
): Promise<void> {
  const { report } = context
  const data = file.data ?? [stored.offset, stored.offset]
  let whole = 0
  for (const range of [[0, data[0]], data, [data[1], stored.offset]] as const) {
    const crc = await sumRange(range, range === data, source, padding, context)
    whole = combineCrc32(whole, crc, range[1] - range[0])
    if (range !== data || !file.data || crc === stored.dataChecksum) continue
    const message = `${hex(stored.dataChecksum)} is stored, the data section (bytes ${data[0]} to ${data[1] - 1}) has ${hex(crc)}`
    report.report(codes['data-crc'], { offset: stored.offset, length: 4, path: 'footer.data_checksum', message })
  }
  if (whole === stored.fileChecksum) return
  const offset = stored.offset + footer.offsetOf('fileChecksum')
  const message = `${hex(stored.fileChecksum)} is stored, bytes 0 to ${stored.offset - 1} have ${hex(whole)}`
  report.report(codes['file-crc'], { offset, length: 4, path: 'footer.file_checksum', message })
}

async function sumRange(
  [start, end]: Range,
  isData: boolean,
  source: ByteSource,
  padding: PaddingCheck,
  context: CheckContext,
): Promise<number> {
  const hasher = await createHasher('crc32')
  let offset = start
  for await (const chunk of streamRange({ source, offset, length: end - start }, window, context.signal)) {
    hasher.update(chunk)
    const zeros = padding.look(chunk, offset)
    // What lies outside the data section was read with the index, and is counted there; so is padding.
    if (isData) context.checked(chunk.byteLength - zeros)
    offset += chunk.byteLength
  }
  return readCrc32(hasher.digest())
}

/** Looks for bytes that should be zero and are not, in chunks that come in order. */
class PaddingCheck {
  readonly #ranges: Float64Array
  readonly #context: CheckContext
  #next = 0
  #isReported = false

  /** `ranges`: where each one starts and ends. */
  constructor(ranges: Float64Array, context: CheckContext) {
    this.#ranges = ranges
    this.#context = context
  }

  /** How many bytes of the chunk are padding. */
  look(chunk: Uint8Array, offset: number): number {
    const ranges = this.#ranges
    const end = offset + chunk.byteLength
    let seen = 0
    while (this.#next < ranges.length && ranges[this.#next]! < end) {
      const [start, stop] = [ranges[this.#next]!, ranges[this.#next + 1]!]
      const from = Math.max(start, offset)
      const to = Math.min(stop, end)
      seen += Math.max(0, to - from)
      const odd = chunk.subarray(from - offset, to - offset).findIndex((byte) => byte !== 0)
      if (odd >= 0 && !this.#isReported) this.#complain(from + odd, chunk[from - offset + odd]!, start, stop)
      if (stop > end) break
      this.#isReported = false
      this.#next += 2
    }
    return seen
  }

  /** Without checksums, only the padding itself is read. */
  async readAll(source: ByteSource): Promise<void> {
    for (let i = 0; i < this.#ranges.length; i += 2) {
      let offset = this.#ranges[i]!
      const length = this.#ranges[i + 1]! - offset
      for await (const chunk of streamRange({ source, offset, length }, window, this.#context.signal)) {
        this.look(chunk, offset)
        offset += chunk.byteLength
      }
    }
  }

  #complain(offset: number, byte: number, start: number, end: number): void {
    this.#isReported = true
    const message = `a byte is ${byte}; bytes ${start} to ${end - 1} belong to nobody and should be zero`
    this.#context.report.report(codes.padding, { offset, length: 1, path: 'padding', message })
  }
}
