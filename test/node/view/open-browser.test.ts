import { describe, expect, it } from 'vitest'
import { browserCommand, tunnelCommand } from '../../../src/node/view/open-browser.js'

const address = 'http://127.0.0.1:4711/token/'

describe('browserCommand', () => {
  it.each([
    ['linux', { DISPLAY: ':0' }, ['xdg-open', address]],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open', address]],
    ['darwin', {}, ['open', address]],
    ['win32', {}, ['rundll32', 'url.dll,FileProtocolHandler', address]],
  ])('on %s', (platform, env, command) => {
    expect(browserCommand(address, platform, env)).toEqual(command)
  })

  it('opens nothing on a machine that nobody sits at', () => {
    expect(browserCommand(address, 'linux', {})).toBeUndefined()
    expect(browserCommand(address, 'linux', { DISPLAY: ':0', SSH_CONNECTION: '1.2.3.4 5 6.7.8.9 22' })).toBeUndefined()
  })
})

describe('tunnelCommand', () => {
  it('names the machine that the user is logged in to', () => {
    expect(tunnelCommand(4711, { SSH_CONNECTION: '1.2.3.4 5555 6.7.8.9 22' })).toMatch(
      /^ssh -L 4711:127\.0\.0\.1:4711 \S+@6\.7\.8\.9$/,
    )
    expect(tunnelCommand(4711, {})).toBeUndefined()
  })
})
