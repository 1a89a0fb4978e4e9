// Addresses are written into job files and sent through queues, where many can read them.
import { failWith } from '../errors/index.js'
import { jobCodes } from './codes.js'

/** A signed address is as good as a password. */
export function refuseSecrets(address: string): void {
  const url = /^https?:/i.test(address) && URL.canParse(address) ? new URL(address) : undefined
  if (!url) return
  const isSigned = [...url.searchParams.keys()].some((key) =>
    /signature|credential|token|^sig$|^policy$|^key-pair-id$/i.test(key),
  )
  if (url.username === '' && url.password === '' && !isSigned) return
  const message =
    'the address holds a password or a signature; give workers an s3 or hf address, and the credentials by their environment'
  failWith(jobCodes.secret, { file: `${url.protocol}//${url.host}${url.pathname}`, message })
}
