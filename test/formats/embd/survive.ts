import { expect } from 'vitest'
import { hashModel, MemorySource, openModel, TareError, verifySource } from '../../../src/kit.js'

/** Verifying must not blame tare, and opening must give a model that can be read, or a finding with a place. */
export async function survive(bytes: Uint8Array): Promise<void> {
  const { verdict, findings } = await verifySource(new MemorySource(bytes, 'x.weights'))
  expect(findings.map(({ code }) => code)).not.toContain('verify/internal')
  try {
    await hashModel(await openModel(new MemorySource(bytes, 'x.weights')), { algorithm: 'crc32' })
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    expect(error.finding.offset, error.message).toBeTypeOf('number')
    expect(verdict).toBe('errors')
  }
}
