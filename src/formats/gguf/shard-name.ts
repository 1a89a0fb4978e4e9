// The files of a set have names that count them.
const shardName = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/is

/** `a/NAME-00001-of-00003.gguf` without its folder, in parts. */
export function parseShardName(name: string): { stem: string; no: number; count: number; suffix: string } | undefined {
  const parts = shardName.exec(name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1))
  if (!parts) return undefined
  return { stem: parts[1]!, no: Number(parts[2]) - 1, count: Number(parts[3]), suffix: parts[4]! }
}

export const fiveDigits = (value: number): string => String(value).padStart(5, '0')

export const nameOfShard = (stem: string, no: number, count: number, suffix = '.gguf'): string =>
  `${stem}-${fiveDigits(no + 1)}-of-${fiveDigits(count)}${suffix}`
