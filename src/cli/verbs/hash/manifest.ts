// Lists of digests in the forms that other tools write and check: sha256sum, b3sum and gguf-hash.

export const manifestForms = ['sha256sum', 'b3sum', 'gguf-hash'] as const
export type ManifestForm = (typeof manifestForms)[number]

export interface ManifestLine {
  readonly algorithm: 'sha256' | 'blake3'
  readonly digest: string
  readonly file: string
  /** In a list by gguf-hash: a tensor of the file. Without it the line is about all tensors, one after the other. */
  readonly tensor?: string
}

export interface FileManifest {
  readonly form: ManifestForm
  /** It may as well be a list by b3sum. */
  readonly isGuess: boolean
  readonly lines: readonly ManifestLine[]
}

/** What the tools themselves print. Names with a newline or a backslash are escaped, and the line says so with a backslash in front. */
export function manifestLine(form: ManifestForm, { digest, file, tensor }: Omit<ManifestLine, 'algorithm'>): string {
  if (form === 'gguf-hash')
    return `${'sha256'.padEnd(8)}  ${digest}  ${file}${tensor === undefined ? '' : `:${tensor}`}`
  const escaped = file.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
  return `${escaped === file ? '' : '\\'}${digest}  ${escaped}`
}

const sumLine = /^(?<mark>\\?)(?<digest>[0-9a-f]{64}) [ *](?<file>.+)$/i
const bsdLine = /^(?<mark>\\?)(?<kind>SHA256|BLAKE3) \((?<file>.+)\) = (?<digest>[0-9a-f]{64})$/i
const ggufLine = /^(sha256|sha1|xxh64) +([0-9a-f]{16,64}) {2}(.+)$/

/**
 * Undefined if this is no such list. sha256sum and b3sum print the same kind of lines: the given algorithm decides between them, else the
 * name of the list, else the first file that has the digest. As those tools do, lines that begin with # are left out.
 */
export function parseManifest(text: string, name: string, algorithm?: string): FileManifest | undefined {
  const rows = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'))
  if (rows.length === 0) return undefined
  if (rows.every((line) => ggufLine.test(line)))
    return { form: 'gguf-hash', isGuess: false, lines: rows.flatMap(ggufEntry) }
  const isBlake3 = algorithm === 'blake3' || (algorithm === undefined && /b3|blake3/i.test(name))
  let isGuess = algorithm === undefined && !isBlake3
  const lines = rows.map((line): ManifestLine | undefined => {
    const { mark, kind, file, digest } = (bsdLine.exec(line) ?? sumLine.exec(line))?.groups ?? {}
    if (digest === undefined || file === undefined) return undefined
    if (kind !== undefined) isGuess = false
    const isOther = kind === undefined ? isBlake3 : kind.toUpperCase() === 'BLAKE3'
    return {
      algorithm: isOther ? 'blake3' : 'sha256',
      digest: digest.toLowerCase(),
      file: mark ? unescaped(file) : file,
    }
  })
  if (lines.some((line) => line === undefined)) return undefined
  return { form: lines[0]!.algorithm === 'blake3' ? 'b3sum' : 'sha256sum', isGuess, lines: lines as ManifestLine[] }
}

const unescaped = (file: string): string =>
  file.replace(/\\([\\nr])/g, (_, letter) => (letter === 'n' ? '\n' : letter === 'r' ? '\r' : '\\'))

/** Of the digests that gguf-hash can write, tare has SHA-256. */
function ggufEntry(line: string): ManifestLine[] {
  const [, algorithm, digest = '', item = ''] = ggufLine.exec(line) ?? []
  if (algorithm !== 'sha256') return []
  // Neither part is escaped. Names of files have an extension, so the first one that a colon follows divides them.
  const [, file = item, tensor] = /^(.*?\.\w+):(.*)$/s.exec(item) ?? []
  return [{ algorithm, digest, file, ...(tensor !== undefined && { tensor }) }]
}
