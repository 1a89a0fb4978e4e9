// Numbers as C's printf writes them with %g: six significant digits, no trailing zeros, an exponent of at least two digits below 1e-4
// and from 1e6 on. OINF's own tools print this way.

const significant = 6

export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const size = Math.abs(value)
  if (size === Infinity) return `${sign}inf`
  const [mantissa, exponentText] = roundHalfEven(size).split('e') as [string, string]
  const digits = mantissa.replace('.', '')
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= significant) {
    const power = String(Math.abs(exponent)).padStart(2, '0')
    return `${sign}${trimZeros(`${digits[0]}.${digits.slice(1)}`)}e${exponent < 0 ? '-' : '+'}${power}`
  }
  if (exponent < 0) return `${sign}${trimZeros(`0.${'0'.repeat(-exponent - 1)}${digits}`)}`
  return `${sign}${trimZeros(`${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`)}`
}

/**
 * Six digits in exponent form. C rounds a tie between two decimals to the even digit, `toExponential` rounds it away from zero. Ties are
 * common in short float types: 3.140625 is one.
 */
function roundHalfEven(size: number): string {
  const [mantissa, exponent] = size.toExponential(100).split('e') as [string, string]
  const kept = mantissa.slice(0, significant + 1)
  const isTie = /^50*$/.test(mantissa.slice(significant + 1))
  return isTie && Number(kept.at(-1)) % 2 === 0 ? `${kept}e${exponent}` : size.toExponential(significant - 1)
}

function trimZeros(decimal: string): string {
  return decimal.replace(/\.?0*$/, '')
}
