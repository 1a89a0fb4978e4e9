/** The last part of a path or address, without its extension: what a tensor that is a whole file is called. */
export function stemOf(file: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\//i.test(file) ? file.replace(/[?#].*$/s, '') : file
  const name = /[^/\\]*$/.exec(path)![0]
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}
