// toGguf(file): the model of a File as a GGUF file to download, `link.href = URL.createObjectURL(blob)`.
import { convert } from 'tare'

export async function toGguf(file) {
  const { files } = await convert(file, undefined, { to: 'gguf', cast: 'f16' })
  return new Blob([files[0].bytes])
}
