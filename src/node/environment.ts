import { failWith, usageCodes } from '../errors/index.js'

/** A number of bytes, optionally followed by K, M or G. Empty means not set. */
export function sizeFromEnvironment(name: string): number | undefined {
  const setting = process.env[name]
  if (setting === undefined || setting === '') return undefined
  const [, digits, unit = ''] = /^(\d+)([KMG]?)$/i.exec(setting) ?? []
  if (digits !== undefined) return Number(digits) * 1024 ** ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase())
  return failWith(usageCodes.option, { file: name, message: `${JSON.stringify(setting)} is not a size such as 512M` })
}
