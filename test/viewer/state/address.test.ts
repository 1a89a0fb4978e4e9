import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress, parseAddress, startAddress } from '../../../viewer/src/state/address.js'

fc.configureGlobal({ seed: 28 })

const text = fc.string({ unit: 'binary' }).filter((each) => each.isWellFormed())

describe('an address', () => {
  it('comes back as it was, whatever names are in it', () => {
    const addresses = fc.record({
      model: fc.integer({ min: 0, max: 9999 }),
      screen: fc.constantFrom('overview', 'tensor', 'bytes'),
      subject: fc.option(text, { nil: undefined }),
      query: fc.dictionary(text, text, { maxKeys: 4 }),
    })
    fc.assert(
      fc.property(addresses, ({ subject, ...rest }) => {
        const address = { ...rest, ...(subject !== undefined && { subject }) }
        const again = parseAddress(formatAddress(address))
        expect({ ...again, query: { ...again.query } }).toEqual({ ...address, query: { ...address.query } })
      }),
    )
  })

  it('never fails on what somebody typed', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (hash) => void parseAddress(hash)))
    expect(parseAddress('#/f/0/tensor/%zz?x=%')).toMatchObject({ subject: '%zz', query: { x: '%' } })
    expect(parseAddress('#/f/-1/tensor')).toBe(startAddress)
    expect(parseAddress('#/f/3')).toMatchObject({ model: 3, screen: 'overview' })
    expect(parseAddress('#/f/3/__proto__/x')).toMatchObject({ screen: 'overview' })
  })

  it('is a readable one', () => {
    const query = { x: '12', z: '-2' }
    expect(formatAddress({ model: 0, screen: 'tensor', subject: 'blk.0/q w', query })).toBe(
      '#/f/0/tensor/blk.0%2Fq%20w?x=12&z=-2',
    )
    expect(formatAddress(startAddress)).toBe('#/')
  })
})
