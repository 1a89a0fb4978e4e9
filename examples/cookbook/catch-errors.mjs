// node catch-errors.mjs MODEL: what is wrong, by code and place.
import { isTareError, openModel } from 'tare/node'

try {
  await (await openModel(process.argv[2])).close()
} catch (error) {
  if (isTareError(error, 'io/not-found')) console.log('no such file:', error.finding.file)
  else if (isTareError(error)) console.log(error.code, 'at byte', error.finding.offset)
  else throw error
}
