// Keyless signatures: a short-lived certificate for an identity, and an entry in a public log. Verified offline against a given trust root
// by Sigstore's own packages, where they are installed.
import { failWith, TareError, usageCodes } from '../../errors/index.js'
import { type Bundle, signatureCodes } from '../../trust/index.js'

export interface KeylessTrust {
  /** Who must have signed, such as an address or a workflow. */
  readonly identity: string
  /** Who must have vouched for the identity: the address of an OpenID Connect issuer. */
  readonly issuer: string
  /** Sigstore's `trusted_root.json`, parsed. */
  readonly trustRoot: unknown
}

/** Throws unless the bundle is signed by the identity. The result is the identity. */
export async function checkKeyless({ json }: Bundle, trust: KeylessTrust, file: string): Promise<string> {
  const { bundles, verification, specs } = await loadSigstore()
  try {
    const material = verification.toTrustMaterial(specs.TrustedRoot.fromJSON(trust.trustRoot))
    const verifier = new verification.Verifier(material, { tlogThreshold: 1, ctlogThreshold: 1 })
    const entity = verification.toSignedEntity(bundles.bundleFromJSON(json as never))
    const subjectAlternativeName = `^${escapeRegExp(trust.identity)}$` // taken as a pattern
    verifier.verify(entity, { subjectAlternativeName, extensions: { issuer: trust.issuer } })
    return trust.identity
  } catch (cause) {
    if (cause instanceof TareError) throw cause
    const message = `not signed by ${JSON.stringify(trust.identity)}: ${(cause as Error).message}`
    return failWith(signatureCodes.identity, { file, offset: 0, path: 'verificationMaterial', message }, { cause })
  }
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

async function loadSigstore() {
  try {
    const [bundles, verification, specs] = await Promise.all([
      import('@sigstore/bundle'),
      import('@sigstore/verify'),
      import('@sigstore/protobuf-specs'),
    ])
    return { bundles, verification, specs }
  } catch (cause) {
    const message = 'keyless signatures need two packages more: npm install @sigstore/bundle@4 @sigstore/verify@3'
    return failWith(usageCodes.option, { file: '--identity', message }, { cause })
  }
}
