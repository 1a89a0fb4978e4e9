// The extensions of an X.509 certificate that Node does not show: key usage, path length, and which ones are critical.

export interface Extensions {
  /** Absent: every use is allowed. */
  readonly keyUsage?: { readonly digitalSignature: boolean; readonly certificateSigning: boolean }
  readonly pathLength?: number
  /** An extension that must be understood and is not, by its object identifier. */
  readonly unknownCritical?: string
}

const keyUsageId = '2.5.29.15'
const basicConstraintsId = '2.5.29.19'
/** Subject and authority key ids, alternative name, policies, extended key usage: they do not restrict what is checked here, or Node checks them. */
const harmless: ReadonlySet<string> = new Set(['2.5.29.14', '2.5.29.17', '2.5.29.32', '2.5.29.35', '2.5.29.37'])

/** Undefined if the bytes are not what a certificate looks like. */
export function readExtensions(der: Uint8Array): Extensions | undefined {
  try {
    const [certificate] = elementsOf(der)
    const [signed] = elementsOf(certificate!.content)
    const wrapper = elementsOf(signed!.content).find(({ tag }) => tag === 0xa3)
    const list = wrapper ? elementsOf(elementsOf(wrapper.content)[0]!.content) : []
    return Object.assign({}, ...list.map(({ content }) => readExtension(elementsOf(content))))
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}

function readExtension(fields: readonly Element[]): Extensions {
  const id = objectId(fields[0]!.content)
  const isCritical = fields[1]!.tag === 0x01 && fields[1]!.content[0] !== 0
  const value = fields.at(-1)!.content
  if (id === keyUsageId) {
    const [bits] = elementsOf(value)
    const first = bits!.content[1] ?? 0 // after the count of unused bits
    return { keyUsage: { digitalSignature: (first & 0x80) !== 0, certificateSigning: (first & 0x04) !== 0 } }
  }
  if (id === basicConstraintsId) {
    const length = elementsOf(elementsOf(value)[0]!.content).find(({ tag }) => tag === 0x02)
    return length ? { pathLength: length.content.reduce((sum, byte) => sum * 256 + byte, 0) } : {}
  }
  return isCritical && !harmless.has(id) ? { unknownCritical: id } : {}
}

interface Element {
  readonly tag: number
  readonly content: Uint8Array
}

/** The DER elements that lie side by side in these bytes. */
function elementsOf(bytes: Uint8Array): Element[] {
  const elements: Element[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = byteAt(bytes, at++)
    let length = byteAt(bytes, at++)
    if (length >= 0x80) {
      let count = length - 0x80
      if (count === 0 || count > 4) throw new RangeError('length')
      for (length = 0; count > 0; count--) length = length * 256 + byteAt(bytes, at++)
    }
    if (length > bytes.length - at) throw new RangeError('length')
    elements.push({ tag, content: bytes.subarray(at, at + length) })
    at += length
  }
  return elements
}

function byteAt(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) throw new RangeError('end')
  return bytes[at]!
}

function objectId(bytes: Uint8Array): string {
  const numbers: number[] = []
  let value = 0
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) {
      numbers.push(value)
      value = 0
    }
  }
  const [first = 0, ...rest] = numbers
  const top = Math.min(2, Math.floor(first / 40))
  return [top, first - 40 * top, ...rest].join('.')
}
