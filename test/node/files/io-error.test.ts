import { expect, test } from 'vitest'
import { findingOf, ioCodes, TareError } from '../../../src/errors/index.js'
import { ioError, withIoErrors } from '../../../src/node/files/io-error.js'

test.each([
  ['ENOENT', 'io/not-found'],
  ['ENOTDIR', 'io/not-found'],
  ['EACCES', 'io/denied'],
  ['EPERM', 'io/denied'],
  ['EROFS', 'io/denied'],
  ['EISDIR', 'io/not-a-file'],
  ['ENOSPC', 'io/no-space'],
  ['EDQUOT', 'io/no-space'],
  ['ENAMETOOLONG', 'io/failed'],
  ['ELOOP', 'io/failed'],
  ['EIO', 'io/failed'],
])('%s is %s', (system, code) => {
  const cause = Object.assign(new Error('said the system'), { code: system })
  const error = ioError(cause, 'a.bin')
  expect([error.code, error.finding.file, error.cause]).toEqual([code, 'a.bin', cause])
})

test('our own errors stay as they are', async () => {
  const own = new TareError(findingOf(ioCodes.aborted, { file: 'x', message: 'cancelled' }))
  await expect(withIoErrors('a.bin', () => Promise.reject(own))).rejects.toBe(own)
})

test('anything else still names the file', () => {
  expect(ioError('odd', 'a.bin').message).toBe('a.bin: odd')
})
