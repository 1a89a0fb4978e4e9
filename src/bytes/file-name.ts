/**
 * Whether a name found inside a model may be opened as a file beside it: a plain file name, with no way to lead elsewhere. Directories,
 * `..`, absolute paths, drive letters, backslashes, URLs and NUL are all refused.
 */
export function isPlainFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.length > 255) return false
  return !/[/\\:\u0000]/.test(name)
}

/** The same for a file in a folder below: plain names joined by `/`. */
export const isPathBelow = (path: string): boolean => path.split('/').every(isPlainFileName)
