import { defineCodes, error, note } from '../errors/index.js'

export const signatureCodes = defineCodes('signature', {
  syntax: error('The signature file is not a Sigstore bundle with a DSSE envelope.'),
  statement: error('What was signed is not a statement about a model that tare knows.'),
  inconsistent: error(
    'The subjects of a signed statement do not match what it says about them: the digest over a list of files, or the files of a receipt.',
  ),
  'key-kind': error(
    'The key is of a kind that Model Signing does not use; it must be an elliptic curve key on P-256, P-384 or P-521.',
  ),
  'key-mismatch': error('The signature was made with another key than the one that is given.'),
  invalid: error('The signature does not match what it is said to sign, or was made with another key.'),
  certificate: error('The certificates do not lead from the signer to a root that is trusted.'),
  'certificate-usage': error('The certificate of the signer may not be used for signing.'),
  identity: error(
    'The bundle is not signed by the identity that is asked for, or its log entry or certificate does not verify.',
  ),
  changed: error('A file does not have the digest that was signed.'),
  missing: error('A file that was signed is not there.'),
  extra: error('A file is there that was not signed.'),
  tensor: error('A tensor of a changed file does not have the digest that was signed.'),
  link: error('A symbolic link is in the model, and the signature does not allow links.'),
  unsigned: note('A model of a signed receipt has no signature of its own; the receipt vouches for it.'),
  'old-form': note('The signature has an older form, which is still accepted.'),
})
