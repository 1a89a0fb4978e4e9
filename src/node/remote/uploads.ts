// Outputs that are being uploaded. A process that is told to end gives them up first, because nobody else would.
import type { S3Sink } from '../../remote/s3/sink.js'

const open = new Set<S3Sink>()
let listener: (count: number) => void = () => {}

/** Until it is complete or given up. */
export function trackUpload(sink: S3Sink): void {
  open.add(sink)
  listener(open.size)
  void sink.ended.then(() => {
    open.delete(sink)
    listener(open.size)
  })
}

/** Calls `listener` whenever the number of uploads changes. */
export function onUploadCount(given: (count: number) => void): void {
  listener = given
}

/** Gives all of them up; those that are to be continued later stay in the store. */
export async function abortUploads(): Promise<void> {
  await Promise.allSettled([...open].map((sink) => sink.abort()))
}
