// The checks that look at every byte. The footer holds the CRC of the data section and the CRC of everything before the footer; the
// second one is put together from the first and those of the parts around it, so that each byte is read and summed up once.
import { type ByteSource, type Range, streamRange } from '../../bytes/index.js'
import { combineCrc32 } from '../../digest/crc32.js'
import { createHasher } from '../../digest/index.js'
import { callerWord, type Report, verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model } from '../../model/index.js'
import { checkTokens } from './check-tokens.js'
import { codes } from './codes.js'
import { hex, readCrc32 } from './crc.js'
import type { SectionedFile } from './sectioned/read.js'
import { footer } from './structs.js'

/** So much is still in the caches of the processor when the checksum is computed. */
const window = 1 << 19

export async function checkStream(model: Model, context: CheckContext): Promise<void> {
  checkTokens(model, context)
  sayNoChecksums('the stream layout has no checksums', context)
}

export async function checkSectioned(file: SectionedFile, context: CheckContext): Promise<void> {
  const { model, padding, footer: stored } = file
  checkTokens(model, context)
  if (!file.hasChecksums) sayNoChecksums('this sectioned file has no checksums', context)
  const source = model.files[0]!
  const zeros = new PaddingCheck(padding, context.report)
  if (file.hasChecksums && stored) return checkSums(file, stored, source, zeros, context)
  // Without checksums, only the padding itself is read.
  for (const { start, end } of padding) {
    let offset = start
    for await (const chunk of streamRange({ source, offset, length: end - start }, window, context.signal)) {
      zeros.look(chunk, offset)
      offset += chunk.byteLength
    }
  }
}

function sayNoChecksums(why: string, { report }: CheckContext): void {
  const message = `${why}; compare with ${callerWord('`tare hash`', 'hash()')} of a copy that you trust`
  report.report(verifyCodes['no-checksums'], { message })
}

async function checkSums(
  file: SectionedFile,
  stored: NonNullable<SectionedFile['footer']>,
  source: ByteSource,
  zeros: PaddingCheck,
  context: CheckContext,
): Promise<void> {
  const { report } = context
  const data = file.data ?? { start: stored.offset, end: stored.offset }
  let whole = 0
  for (const range of [{ start: 0, end: data.start }, data, { start: data.end, end: stored.offset }]) {
    const crc = await sumRange(range, range === data, source, zeros, context)
    whole = combineCrc32(whole, crc, range.end - range.start)
    if (range !== file.data || crc === stored.dataChecksum) continue
    const message = `${hex(stored.dataChecksum)} is stored, the data section (bytes ${data.start} to ${data.end - 1}) has ${hex(crc)}`
    report.report(codes['data-crc'], { offset: stored.offset, length: 4, path: 'footer.data_checksum', message })
  }
  if (whole === stored.fileChecksum) return
  const offset = stored.offset + footer.offsetOf('fileChecksum')
  const message = `${hex(stored.fileChecksum)} is stored, bytes 0 to ${stored.offset - 1} have ${hex(whole)}`
  report.report(codes['file-crc'], { offset, length: 4, path: 'footer.file_checksum', message })
}

async function sumRange(
  { start, end }: Range,
  isData: boolean,
  source: ByteSource,
  zeros: PaddingCheck,
  context: CheckContext,
): Promise<number> {
  const hasher = await createHasher('crc32')
  let offset = start
  for await (const chunk of streamRange({ source, offset, length: end - start }, window, context.signal)) {
    hasher.update(chunk)
    const padding = zeros.look(chunk, offset)
    // What lies outside the data section was read with the index, and is counted there; so is padding.
    if (isData) context.checked(chunk.byteLength - padding)
    offset += chunk.byteLength
  }
  return readCrc32(hasher.digest())
}

/** Looks for bytes that should be zero and are not, in chunks that come in order. */
class PaddingCheck {
  readonly #ranges: readonly Range[]
  readonly #report: Report
  #next = 0
  #isReported = false

  constructor(ranges: readonly Range[], report: Report) {
    this.#ranges = ranges
    this.#report = report
  }

  /** How many bytes of the chunk are padding. */
  look(chunk: Uint8Array, offset: number): number {
    const end = offset + chunk.byteLength
    let seen = 0
    for (let range = this.#ranges[this.#next]; range && range.start < end; range = this.#ranges[++this.#next]) {
      const from = Math.max(range.start, offset)
      const to = Math.min(range.end, end)
      seen += Math.max(0, to - from)
      const odd = chunk.subarray(from - offset, to - offset).findIndex((byte) => byte !== 0)
      if (odd >= 0 && !this.#isReported) this.#complain(from + odd, chunk[from - offset + odd]!, range)
      if (range.end > end) break
      this.#isReported = false
    }
    return seen
  }

  #complain(offset: number, byte: number, { start, end }: Range): void {
    this.#isReported = true
    const message = `a byte is ${byte}; bytes ${start} to ${end - 1} are padding and should be zero`
    this.#report.report(codes.padding, { offset, length: 1, path: 'padding', message })
  }
}
