// A published model is a directory: the weights, and beside them the configuration, the tokenizer and its vocabulary. These companion files
// become shared parts of kind `file`, byte for byte, and their payloads stay in the files.
import { type ByteSource, isPlainFileName } from '../bytes/index.js'
import { openCodes, TareError } from '../errors/index.js'
import type { ReadContext } from '../model/format.js'
import type { FileLayout } from '../model/layout.js'
import type { Model, Part } from '../model/model.js'
import { type Payload, rangePayload } from '../model/payload.js'
import { openAhead } from './open-ahead.js'

export const fileKind = 'file'

/** Files that belong to a model by name. Weights, training state, programs and documentation do not. */
const companionNames: readonly RegExp[] = [
  // config.json, generation_config.json, tokenizer_config.json, preprocessor_config.json, adapter_config.json, …
  /^(\w+_)?config\.json$/,
  /^config_\w+\.json$/,
  /^(tokenizer|special_tokens_map|added_tokens|normalizer|chat_template|modules|model_index|params)\.json$/,
  /^chat_template\.jinja2?$/,
  /^(vocab(-src|-tgt)?|encoder|tekken)\.json$/,
  /^(vocab|merges)\.(txt|bpe)$/,
  /^(tokenizer|spiece|sentencepiece(\.bpe)?|bpe)\.model$/,
  /^(source|target)\.spm$/,
  /^[\w.-]+\.tiktoken$/,
]

/** Chat templates beside the main one lie here, each in a file of its name. */
export const templateFolder = 'additional_chat_templates'

export const isCompanion = (name: string): boolean =>
  isPlainFileName(name) && companionNames.some((pattern) => pattern.test(name))

export function filePart(name: string, data: Payload): Part {
  return { kind: fileKind, sharing: 'shared', name, value: { bytes: data.byteLength }, data }
}

export const findFile = (parts: readonly Part[], name: string): Part | undefined =>
  parts.find((part) => part.kind === fileKind && part.name === name)

/** The companion files of a model that is written into a directory of its own. */
export function companionFiles({ parts }: Model): FileLayout[] {
  return parts.flatMap(({ kind, name, data }) =>
    kind === fileKind && name !== undefined && data
      ? [{ name, slots: [{ kind: 'payload' as const, path: name, payload: data }] }]
      : [],
  )
}

/** The model with the companion files of the directory that was opened. */
export async function withCompanions(model: Model, source: ByteSource, context: ReadContext): Promise<Model> {
  const files = await openCompanions(source, context)
  if (files.length === 0) return model
  for (const { part, file } of files)
    context.extents?.add({ file: file.name, offset: 0, length: file.size, path: part.name!, kind: 'field' })
  return {
    ...model,
    parts: [...model.parts, ...files.map(({ part }) => part)],
    files: [...model.files, ...files.map(({ file }) => file)],
  }
}

/** The companions of a main file that was opened alone. They are not part of the model, but a container may have a place for them. */
export async function companionsBeside(model: Model): Promise<readonly Part[]> {
  const [source] = model.files
  if (!source?.folder || source.folder.isWhole) return []
  const files = await openCompanions(source)
  return files.map(({ part }) => part)
}

/** The source closes them. A file that cannot be read is left out and reported. */
async function openCompanions(
  source: ByteSource,
  context?: ReadContext,
): Promise<{ readonly part: Part; readonly file: ByteSource }[]> {
  const found: { part: Part; file: ByteSource }[] = []
  const names = source.folder!.files.filter(isCompanion)
  for await (const { name, opened } of openAhead(names, (each) => source.sibling!(each))) {
    try {
      const file = await opened
      found.push({ part: filePart(name, rangePayload(file, 0, file.size)), file })
    } catch (error) {
      if (!(error instanceof TareError)) throw error
      const message = `${name} is left out: ${error.finding.message}`
      context?.report.report(openCodes['file-left-out'], { offset: 0, path: name, message })
    }
  }
  return found
}
