// Digests of the tensors in the files of a model. With them a verifier can say which tensors of a changed file changed.
import { TareError } from '../../errors/index.js'
import { openModel } from '../../formats/index.js'
import { hashModel } from '../../inspect/hash.js'
import { closeModel } from '../../model/index.js'
import type { Resource, TensorDigests } from '../../trust/index.js'
import type { HashFilesOptions } from './hash-files.js'
import type { ListedFile } from './list-files.js'

/** The resources, with the digests of tensors on the first one of each file that is a model. */
export async function withTensorDigests(
  resources: readonly Resource[],
  files: readonly ListedFile[],
  options: HashFilesOptions,
): Promise<Resource[]> {
  const byName = new Map<string, TensorDigests>()
  for (const file of files) {
    const tensors = await tensorDigests(file, options)
    if (tensors) byName.set(file.name, tensors)
  }
  return resources.map((resource) => {
    const name = byName.has(resource.name) ? resource.name : fileOfPiece(resource.name)
    const tensors = byName.get(name)
    byName.delete(name)
    return tensors ? { ...resource, tensors } : resource
  })
}

/** Undefined if the file is not a model that tare knows, or is damaged. */
export async function tensorDigests(
  file: ListedFile,
  { pool, signal }: HashFilesOptions,
): Promise<TensorDigests | undefined> {
  const source = await file.open()
  try {
    const model = await openModel(source, { signal })
    const { tensors } = await hashModel(model, { algorithm: 'blake3', stow: false, pool, signal })
    await closeModel(model)
    // Other files of a set are listed on their own.
    const own = new Set(
      model.tensors
        .filter(({ data }) => !data?.origin || data.origin.source.name === source.name)
        .map(({ name }) => name),
    )
    return {
      algorithm: 'blake3',
      digests: Object.fromEntries(
        tensors.filter(({ name }) => own.has(name)).map(({ name, digest }) => [name, digest]),
      ),
    }
  } catch (error) {
    if (signal?.aborted || !(error instanceof TareError)) throw error
    return undefined
  } finally {
    await source.close()
  }
}

/** The name of a piece without its range. */
export const fileOfPiece = (name: string): string => /^(.+):\d+:\d+$/s.exec(name)?.[1] ?? name
