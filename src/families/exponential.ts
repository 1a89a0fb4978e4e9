// Mamba stores the logarithm of what llama.cpp multiplies by. Libraries differ in the last bit of such functions, from one processor to the
// next; here the result is the number of single precision that is nearest to the true one.
const { fround } = Math

export const singleExp = (x: number): number => fround(Math.exp(x))

/** A number whose power this is, the nearest to the true logarithm first. */
export function singleLog(value: number): number {
  const near = fround(Math.log(value))
  if (!Number.isFinite(near) || near === 0) return near
  const step = 2 ** (Math.floor(Math.log2(Math.abs(near))) - 23)
  for (let distance = 0; distance < 4; distance++)
    for (const each of [fround(near + distance * step), fround(near - distance * step)])
      if (singleExp(each) === value) return each
  return near
}
