// From the certificate of a signer to a root that is trusted, as OpenSSL walks there.
import { X509Certificate } from 'node:crypto'
import { failWith } from '../../errors/index.js'
import { signatureCodes } from '../../trust/index.js'
import { type Extensions, readExtensions } from './certificate-extensions.js'

/** More certificates than this in a chain are not followed. */
const maxChain = 16

/** All certificates of a PEM file. */
export function readCertificates(pem: Buffer, file: string): X509Certificate[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0)
    failWith(signatureCodes.certificate, { file, message: 'there is no certificate in PEM form in it' })
  return blocks.map((block) => parseCertificate(Buffer.from(block), file))
}

export function parseCertificate(bytes: Uint8Array, file: string): X509Certificate {
  try {
    return new X509Certificate(bytes)
  } catch (cause) {
    return failWith(signatureCodes.certificate, { file, message: 'a certificate cannot be read' }, { cause })
  }
}

/**
 * Throws unless the first certificate leads to one of the trusted roots, and may be used for signing. Dates are judged at the moment from
 * which the signer's certificate is valid: the time of signing is not in the signature.
 */
export function checkChain(
  [leaf, ...between]: readonly X509Certificate[],
  trusted: readonly X509Certificate[],
  file: string,
): void {
  const refuse = (message: string): never =>
    failWith(signatureCodes.certificate, {
      file,
      offset: 0,
      path: 'verificationMaterial.x509CertificateChain',
      message,
    })
  const time = Date.parse(leaf!.validFrom)
  const roots = new Set(trusted.map(({ fingerprint256 }) => fingerprint256))
  let current = leaf!
  for (let depth = 0; depth < maxChain; depth++) {
    const extensions = extensionsOf(current, file)
    checkDates(current, time, refuse)
    if (extensions.unknownCritical !== undefined)
      refuse(`${named(current)} has a critical extension that tare does not know: ${extensions.unknownCritical}`)
    if (depth > 0) checkIssuer(current, extensions, depth, refuse)
    if (isSelfSigned(current)) {
      if (!roots.has(current.fingerprint256)) refuse(`${named(current)} is not among the roots that are trusted`)
      checkUsage(leaf!, file)
      return
    }
    current =
      [...trusted, ...between].find((other) => current.checkIssued(other) && current.verify(other.publicKey)) ??
      refuse(`there is no certificate of the issuer of ${named(current)}`)
  }
  refuse(`the chain has more than ${maxChain} certificates`)
}

const isSelfSigned = (certificate: X509Certificate): boolean =>
  certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey)

/** `CN=name` of a subject, which has one line for each field. */
export const named = ({ subject }: X509Certificate): string => JSON.stringify((subject ?? '').replaceAll('\n', ', '))

function checkDates(certificate: X509Certificate, time: number, refuse: (message: string) => never): void {
  if (time < Date.parse(certificate.validFrom))
    refuse(`${named(certificate)} is valid only from ${certificate.validFrom}, after the signer's certificate`)
  if (time > Date.parse(certificate.validTo))
    refuse(`${named(certificate)} expired on ${certificate.validTo}, before the signer's certificate`)
}

function checkIssuer(
  certificate: X509Certificate,
  { keyUsage, pathLength }: Extensions,
  depth: number,
  refuse: (message: string) => never,
): void {
  if (!certificate.ca) refuse(`${named(certificate)} is not the certificate of an authority`)
  if (keyUsage && !keyUsage.certificateSigning) refuse(`${named(certificate)} may not sign certificates`)
  if (pathLength !== undefined && depth - 1 > pathLength)
    refuse(`${named(certificate)} allows fewer certificates below it`)
}

const codeSigning = '1.3.6.1.5.5.7.3.3'

/** Throws unless a certificate may be used for signing. */
export function checkUsage(leaf: X509Certificate, file: string): void {
  // Node calls the extended key usage `keyUsage`.
  if (extensionsOf(leaf, file).keyUsage?.digitalSignature || leaf.keyUsage?.includes(codeSigning)) return
  const message = `${named(leaf)} states neither digital signatures nor code signing as its use`
  failWith(signatureCodes['certificate-usage'], {
    file,
    offset: 0,
    path: 'verificationMaterial.x509CertificateChain',
    message,
  })
}

function extensionsOf(certificate: X509Certificate, file: string): Extensions {
  return (
    readExtensions(certificate.raw) ??
    failWith(signatureCodes.certificate, { file, message: `the extensions of ${named(certificate)} cannot be read` })
  )
}
