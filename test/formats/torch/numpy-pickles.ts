// Pickles of one dictionary of arrays and numbers, made by NumPy 2.4 with protocols 2 and 5. The source of each entry stands beside it:
//
//   c        np.arange(6, dtype='<f4').reshape(2, 3)
//   fortran  np.asfortranarray(np.arange(6, dtype='<i2').reshape(2, 3))
//   big      np.array([1, -2], dtype='>i4')
//   flags    np.array([True, False])
//   complex  np.array([1 + 2j], dtype='complex64')
//   half     np.array([1.5], dtype='f2')
//   none     np.zeros((0, 3))
//   zero     np.array(7, dtype='u8')
//   best     np.float64(0.25)         step    np.int64(-5)              yes     np.bool_(True)
//   names    np.array(['ab'])         things  np.array([None], dtype=object)
//   day      np.datetime64('2020-01-01')      record  np.zeros(1, dtype=[('x', 'f4')])
const decode = (...lines: string[]): Uint8Array => new Uint8Array(Buffer.from(lines.join(''), 'base64'))

export const protocol2 = decode(
  'gAJ9cQAoWAEAAABjcQFjbnVtcHkuX2NvcmUubXVsdGlhcnJheQpfcmVjb25zdHJ1Y3QKcQJjbnVtcHkKbmRhcnJheQpxA0sAhXEEY19jb2RlY3MKZW5jb2Rl',
  'CnEFWAEAAABicQZYBgAAAGxhdGluMXEHhnEIUnEJh3EKUnELKEsBSwJLA4ZxDGNudW1weQpkdHlwZQpxDVgCAAAAZjRxDomIh3EPUnEQKEsDWAEAAAA8cRFO',
  'Tk5K/////0r/////SwB0cRJiiWgFWBsAAAAAAAAAAADCgD8AAABAAABAQAAAwoBAAADCoEBxE2gHhnEUUnEVdHEWYlgHAAAAZm9ydHJhbnEXaAJoA0sAhXEY',
  'aAmHcRlScRooSwFLAksDhnEbaA1YAgAAAGkycRyJiIdxHVJxHihLA2gRTk5OSv////9K/////0sAdHEfYohoBVgMAAAAAAADAAEABAACAAUAcSBoB4ZxIVJx',
  'InRxI2JYAwAAAGJpZ3EkaAJoA0sAhXElaAmHcSZScScoSwFLAoVxKGgNWAIAAABpNHEpiYiHcSpScSsoSwNYAQAAAD5xLE5OTkr/////Sv////9LAHRxLWKJ',
  'aAVYDAAAAAAAAAHDv8O/w7/DvnEuaAeGcS9ScTB0cTFiWAUAAABmbGFnc3EyaAJoA0sAhXEzaAmHcTRScTUoSwFLAoVxNmgNWAIAAABiMXE3iYiHcThScTko',
  'SwNYAQAAAHxxOk5OTkr/////Sv////9LAHRxO2KJaAVYAgAAAAEAcTxoB4ZxPVJxPnRxP2JYBwAAAGNvbXBsZXhxQGgCaANLAIVxQWgJh3FCUnFDKEsBSwGF',
  'cURoDVgCAAAAYzhxRYmIh3FGUnFHKEsDaBFOTk5K/////0r/////SwB0cUhiiWgFWAkAAAAAAMKAPwAAAEBxSWgHhnFKUnFLdHFMYlgEAAAAaGFsZnFNaAJo',
  'A0sAhXFOaAmHcU9ScVAoSwFLAYVxUWgNWAIAAABmMnFSiYiHcVNScVQoSwNoEU5OTkr/////Sv////9LAHRxVWKJaAVYAgAAAAA+cVZoB4ZxV1JxWHRxWWJY',
  'BAAAAG5vbmVxWmgCaANLAIVxW2gJh3FcUnFdKEsBSwBLA4ZxXmgNWAIAAABmOHFfiYiHcWBScWEoSwNoEU5OTkr/////Sv////9LAHRxYmKJY19fYnVpbHRp',
  'bl9fCmJ5dGVzCnFjKVJxZHRxZWJYBAAAAHplcm9xZmgCaANLAIVxZ2gJh3FoUnFpKEsBKWgNWAIAAAB1OHFqiYiHcWtScWwoSwNoEU5OTkr/////Sv////9L',
  'AHRxbWKJaAVYCAAAAAcAAAAAAAAAcW5oB4Zxb1JxcHRxcWJYBAAAAGJlc3RxcmNudW1weS5fY29yZS5tdWx0aWFycmF5CnNjYWxhcgpxc2hhaAVYCQAAAAAA',
  'AAAAAMOQP3F0aAeGcXVScXaGcXdScXhYBAAAAHN0ZXBxeWhzaA1YAgAAAGk4cXqJiIdxe1JxfChLA2gRTk5OSv////9K/////0sAdHF9YmgFWBAAAADDu8O/',
  'w7/Dv8O/w7/Dv8O/cX5oB4Zxf1JxgIZxgVJxglgDAAAAeWVzcYNoc2g5aAVYAQAAAAFxhGgHhnGFUnGGhnGHUnGIWAUAAABuYW1lc3GJaAJoA0sAhXGKaAmH',
  'cYtScYwoSwFLAYVxjWgNWAIAAABVMnGOiYiHcY9ScZAoSwNoEU5OTksISwRLCHRxkWKJaAVYCAAAAGEAAABiAAAAcZJoB4Zxk1JxlHRxlWJYBgAAAHRoaW5n',
  'c3GWaAJoA0sAhXGXaAmHcZhScZkoSwFLAYVxmmgNWAIAAABPOHGbiYiHcZxScZ0oSwNoOk5OTkr/////Sv////9LP3RxnmKJXXGfTmF0caBiWAMAAABkYXlx',
  'oWhzaA1YAgAAAE04caKJiIdxo1JxpChLBGgRTk5OSv////9K/////0sATihoBVgBAAAARHGlaAeGcaZScadLAUsBSwF0caiGcal0capiaAVYCAAAAFZHAAAA',
  'AAAAcatoB4ZxrFJxrYZxrlJxr1gGAAAAcmVjb3JkcbBoAmgDSwCFcbFoCYdxslJxsyhLAUsBhXG0aA1YAgAAAFY0cbWJiIdxtlJxtyhLA2g6TlgBAAAAeHG4',
  'hXG5fXG6aLhoEEsAhnG7c0sESwFLEHRxvGKJaAVYBAAAAAAAAABxvWgHhnG+UnG/dHHAYnUu',
)

export const protocol5 = decode(
  'gAWVbQQAAAAAAAB9lCiMAWOUjBNudW1weS5fY29yZS5udW1lcmljlIwLX2Zyb21idWZmZXKUk5QolhgAAAAAAAAAAAAAAAAAgD8AAABAAABAQAAAgEAAAKBA',
  'lIwFbnVtcHmUjAVkdHlwZZSTlIwCZjSUiYiHlFKUKEsDjAE8lE5OTkr/////Sv////9LAHSUYksCSwOGlIwBQ5R0lFKUjAdmb3J0cmFulGgEKJYMAAAAAAAA',
  'AAAAAwABAAQAAgAFAJRoCIwCaTKUiYiHlFKUKEsDaAxOTk5K/////0r/////SwB0lGJLAksDhpSMAUaUdJRSlIwDYmlnlGgEKJYIAAAAAAAAAAAAAAH////+',
  'lGgIjAJpNJSJiIeUUpQoSwOMAT6UTk5OSv////9K/////0sAdJRiSwKFlGgPdJRSlIwFZmxhZ3OUaAQolgIAAAAAAAAAAQCUaAiMAmIxlImIh5RSlChLA4wB',
  'fJROTk5K/////0r/////SwB0lGJLAoWUaA90lFKUjAdjb21wbGV4lGgEKJYIAAAAAAAAAAAAgD8AAABAlGgIjAJjOJSJiIeUUpQoSwNoDE5OTkr/////Sv//',
  '//9LAHSUYksBhZRoD3SUUpSMBGhhbGaUaAQolgIAAAAAAAAAAD6UaAiMAmYylImIh5RSlChLA2gMTk5OSv////9K/////0sAdJRiSwGFlGgPdJRSlIwEbm9u',
  'ZZRoBCiWAAAAAAAAAACUaAiMAmY4lImIh5RSlChLA2gMTk5OSv////9K/////0sAdJRiSwBLA4aUaA90lFKUjAR6ZXJvlGgEKJYIAAAAAAAAAAcAAAAAAAAA',
  'lGgIjAJ1OJSJiIeUUpQoSwNoDE5OTkr/////Sv////9LAHSUYiloD3SUUpSMBGJlc3SUjBZudW1weS5fY29yZS5tdWx0aWFycmF5lIwGc2NhbGFylJOUaEZD',
  'CAAAAAAAANA/lIaUUpSMBHN0ZXCUaFZoCIwCaTiUiYiHlFKUKEsDaAxOTk5K/////0r/////SwB0lGJDCPv/////////lIaUUpSMA3llc5RoVmgqQwEBlIaU',
  'UpSMBW5hbWVzlGgEKJYIAAAAAAAAAGEAAABiAAAAlGgIjAJVMpSJiIeUUpQoSwNoDE5OTksISwRLCHSUYksBhZRoD3SUUpSMBnRoaW5nc5RoVIwMX3JlY29u',
  'c3RydWN0lJOUaAaMB25kYXJyYXmUk5RLAIWUQwFilIeUUpQoSwFLAYWUaAiMAk84lImIh5RSlChLA2grTk5OSv////9K/////0s/dJRiiV2UTmF0lGKMA2Rh',
  'eZRoVmgIjAJNOJSJiIeUUpQoSwRoDE5OTkr/////Sv////9LAE4oQwFElEsBSwFLAXSUhpR0lGJDCFZHAAAAAAAAlIaUUpSMBnJlY29yZJRoBCiWBAAAAAAA',
  'AAAAAAAAlGgIjAJWNJSJiIeUUpQoSwNoK06MAXiUhZR9lGiPaAtLAIaUc0sESwFLEHSUYksBhZRoD3SUUpR1Lg==',
)
