// Loaded with the first address, like all network code.
import type { filesAt as FilesAt, placeAt as PlaceAt } from './collection.js'
import type { fetchFiles as FetchFiles } from './fetch-files.js'

export type { Place, RemoteFile } from './collection.js'
export type { Fetched } from './fetch-files.js'

export const filesAt: typeof FilesAt = async (...args) => (await import('./collection.js')).filesAt(...args)
export const placeAt: typeof PlaceAt = async (...args) => (await import('./collection.js')).placeAt(...args)
export const fetchFiles: typeof FetchFiles = async (...args) => (await import('./fetch-files.js')).fetchFiles(...args)
