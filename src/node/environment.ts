import { failWith, usageCodes } from '../errors/index.js'

/** Bytes, or with K, M or G behind the number. Set but empty means not set. */
export function sizeFromEnvironment(name: string): number | undefined {
  const given = process.env[name]
  if (given === undefined || given === '') return undefined
  const [, digits, unit = ''] = /^(\d+)([KMG]?)$/i.exec(given) ?? []
  if (digits !== undefined) return Number(digits) * 1024 ** ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase())
  return failWith(usageCodes.option, { file: name, message: `${JSON.stringify(given)} is no size such as 512M` })
}
