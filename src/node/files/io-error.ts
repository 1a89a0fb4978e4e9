import { type Code, findingOf, ioCodes, TareError } from '../../errors/index.js'

const known: Readonly<Record<string, readonly [Code, string]>> = {
  ENOENT: [ioCodes['not-found'], 'there is no such file or directory'],
  ENAMETOOLONG: [ioCodes.failed, 'the name is too long'],
  ELOOP: [ioCodes.failed, 'links lead in a circle'],
  ENOTDIR: [ioCodes['not-found'], 'a part of the path is not a directory'],
  EACCES: [ioCodes.denied, 'the system does not permit it'],
  EPERM: [ioCodes.denied, 'the system does not permit it'],
  EROFS: [ioCodes.denied, 'the file system is read-only'],
  EISDIR: [ioCodes['not-a-file'], 'this is a directory'],
  EEXIST: [ioCodes.exists, 'it already exists'],
  ENOSPC: [ioCodes['no-space'], 'the disk is full'],
  EDQUOT: [ioCodes['no-space'], 'the disk quota is used up'],
}

/** A system error as a TareError about the file. Our own errors pass through. */
export function ioError(error: unknown, file: string): TareError {
  if (error instanceof TareError) return error
  const system = error as NodeJS.ErrnoException
  const [code, message] = known[system?.code ?? ''] ?? [ioCodes.failed, system?.message ?? String(error)]
  return new TareError(findingOf(code, { file, message }), { cause: error })
}

/** Runs a file system call and converts its errors. */
export async function withIoErrors<T>(file: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw ioError(error, file)
  }
}
