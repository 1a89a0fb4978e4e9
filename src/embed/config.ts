import { decodeUtf8 } from '../bytes/index.js'
import type { JsonValue, Model } from '../model/index.js'
import { readSibling } from '../tokenize/read-sibling.js'

const largestConfig = 1 << 20

/** The config.json beside a model, or undefined when there is none that can be read. */
export async function readConfig(model: Model): Promise<JsonValue | undefined> {
  const bytes = await readSibling(model, 'config.json', largestConfig)
  const text = bytes && decodeUtf8(bytes)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
