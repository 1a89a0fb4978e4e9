// Loaded with the first address, like all network code.
import type { filesAt as FilesAt } from './collection.js'
import type { fetchFiles as FetchFiles } from './fetch-files.js'

export type { RemoteFile } from './collection.js'
export type { Fetched } from './fetch-files.js'

export const filesAt: typeof FilesAt = async (...args) => (await import('./collection.js')).filesAt(...args)
export const fetchFiles: typeof FetchFiles = async (...args) => (await import('./fetch-files.js')).fetchFiles(...args)
