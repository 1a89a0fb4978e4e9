// What tests call in a page. Arguments and results are plain data.
import { openModel } from '../../../src/index.js'
import * as tare from '../../../src/kit.js'
import {
  codeOf,
  convertFile,
  describeFile,
  examineFile,
  type Given,
  hashText,
  openGiven,
  type Places,
  type Wanted,
} from './models.js'

export * from './pool.js'
export * from './quantized.js'

let pack = new Blob()
let places: Places = {}

/** Fetches the file that holds all others. */
export async function loadPack(address: string, index: Places): Promise<number> {
  pack = await (await fetch(address)).blob()
  places = index
  return pack.size
}

const load = (place: string): Blob => pack.slice(...places[place]!)

/** Each file as a Blob, as if it had been dropped onto the page. */
export async function describeFiles(files: readonly Given[]): Promise<string[]> {
  return Promise.all(files.map(async (given) => describeFile(await openGiven(given, load))))
}

export async function examineFiles(files: readonly Given[]): Promise<string[]> {
  return Promise.all(files.map(async (given) => examineFile(await openGiven(given, load))))
}

/** Digests of the tensors of a file that is read over HTTP, a range at a time. */
export async function hashRemote(address: string, options: tare.HttpOptions = {}): Promise<string> {
  try {
    const source = await tare.HttpSource.open(new URL(address, location.href).href, { tries: 1, ...options })
    const text = await hashText(source)
    await source.close()
    return text
  } catch (error) {
    return codeOf(error)
  }
}

/** The same for an object, signed by the page or by the address itself. */
export async function hashStored(address: string, s3?: tare.S3Options): Promise<string> {
  try {
    const model = await openModel(address, { ...(s3 && { s3 }) })
    const text = await hashText(model.files[0]!)
    await model.close()
    return text
  } catch (error) {
    return codeOf(error)
  }
}

/** Converts a file into an object. */
export async function convertIntoStore(address: string, key: string, to: string, s3: tare.S3Options): Promise<string> {
  const source = await tare.HttpSource.open(new URL(address, location.href).href)
  try {
    const conversion = await tare.planConversion(await tare.openModel(source), to, { name: key, deterministic: true })
    await tare.runConversion(conversion, () => tare.S3Sink.open(new tare.S3Client('models', s3), key))
    return 'done'
  } catch (error) {
    return codeOf(error)
  } finally {
    await source.close()
  }
}

/** SHA-256 of every file that a conversion makes, from the browser's own implementation. */
export async function convertAndHash(address: string, wanted: Wanted): Promise<Record<string, string>> {
  const blob = await (await fetch(address)).blob()
  const files = await convertFile(new tare.BlobSource(blob, address.split('/').at(-1)), wanted)
  const digests: Record<string, string> = {}
  for (const [name, bytes] of files) {
    const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
    digests[name] = `${bytes.byteLength} ${tare.toHex(new Uint8Array(digest))}`
  }
  return digests
}

/** A file that is another one by the time it is read, as when somebody saves over it. */
export async function readChanged(): Promise<string> {
  const folder = await navigator.storage.getDirectory()
  const handle = await folder.getFileHandle('changing.bin', { create: true })
  const save = async (length: number): Promise<void> => {
    const stream = await handle.createWritable()
    await stream.write(new Uint8Array(length))
    await stream.close()
  }
  await save(1000)
  const source = new tare.BlobSource(await handle.getFile())
  await save(2000)
  return source.read(100, 200).then((bytes) => `${bytes.byteLength} bytes`, codeOf)
}

/** What comes of a conversion that may fail. */
export async function tryConversion(address: string, wanted: Wanted): Promise<string> {
  return convertAndHash(address, wanted).then(() => 'done', codeOf)
}

export const environment = () => ({
  isIsolated: crossOriginIsolated,
  canShare: typeof SharedArrayBuffer !== 'undefined',
  hasNode: 'process' in globalThis || 'Buffer' in globalThis || 'require' in globalThis,
})
