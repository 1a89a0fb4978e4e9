// YAML as a description, restricted to what JSON can express: YAML 1.2, no tags, no merge keys, one document, text keys, and few aliases,
// so that a small file cannot expand without bound.
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  type Node as YamlNode,
} from 'yaml'
import { decodeUtf8, encodeUtf8 } from '../../bytes/index.js'
import { failWith, jsonCodes } from '../../errors/index.js'
import { asFloat } from '../../pack/float.js'
import { type DescriptionNode, packCodes } from '../../pack/index.js'
import { unwrapFloats } from '../../pack/read-json.js'

const maxAliases = 100
const maxDepth = 128

export function parseYamlDescription(bytes: Uint8Array, name: string): DescriptionNode {
  const text = decodeUtf8(bytes)
  if (text === undefined) failWith(jsonCodes.utf8, { file: name, message: 'the text is not UTF-8' })
  const fail = (message: string, at = 0): never => {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    const column = at - before.lastIndexOf('\n')
    const offset = encodeUtf8(before).byteLength
    return failWith(packCodes.yaml, { file: name, offset, message: `line ${line}, column ${column}: ${message}` })
  }
  const [document, second] = compose(text, fail)
  // The parser only warns about unknown tags; here they are errors.
  for (const { message, pos } of [...document.errors, ...document.warnings]) fail(message, pos[0])
  if (second) fail('here a second document begins, and a description is one', second.range[0])
  let aliases = 0

  function convert(node: YamlNode | ParsedNode | null | undefined, depth: number): DescriptionNode {
    if (!node) return null
    const at = node.range?.[0] ?? 0
    if (depth > maxDepth) return fail('nested too deeply', at)
    if (isAlias(node)) {
      if (++aliases > maxAliases) fail(`there are more than ${maxAliases} aliases`, at)
      return convert(node.resolve(document) ?? fail(`there is no anchor ${node.source}`, at), depth + 1)
    }
    if (node.tag !== undefined) fail(`tags such as ${node.tag} mean nothing here`, at)
    if (isSeq(node)) return unwrapFloats(node.items.map((inner) => convert(inner as YamlNode, depth + 1)))
    if (isMap(node)) return convertMap(node.items as { key: unknown; value: unknown }[], depth, at)
    return isScalar(node)
      ? convertScalar(node.value, node.source ?? '', at)
      : fail('this cannot be part of a description', at)
  }

  function convertMap(pairs: readonly { key: unknown; value: unknown }[], depth: number, at: number) {
    const object = new Map<string, DescriptionNode>()
    for (const { key, value } of pairs) {
      const place = (isScalar(key) && key.range?.[0]) || at
      if (!isScalar(key) || typeof key.value !== 'string') return fail('a name must be a text; put it in quotes', place)
      object.set(key.value, convert(value as YamlNode, depth + 1))
    }
    return object
  }

  /** The parser returns integers as bigints, so every number is a float. */
  function convertScalar(value: unknown, source: string, at: number): DescriptionNode {
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
    if (value === Infinity || value === -Infinity) if (!/inf/i.test(source)) fail(`${source} is beyond every float`, at)
    if (typeof value === 'number') return Number.isInteger(value) ? asFloat(value) : value
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    return fail('this cannot be part of a description', at)
  }

  return convert(document.contents, 0)
}

type Fail = (message: string, at?: number) => never

/** The first two documents of the text; there is at least one. */
function compose(text: string, fail: Fail): [Document.Parsed, Document.Parsed?] {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    intAsBigInt: true,
    prettyErrors: false,
    logLevel: 'error',
  })
  const documents: Document.Parsed[] = []
  for (const document of composer.compose(tokensOf(text, fail), true, text.length)) {
    documents.push(document)
    if (documents.length === 2) break
  }
  return documents as [Document.Parsed, Document.Parsed?]
}

/** The composer is recursive, so input that is nested too deeply must not reach it. */
function* tokensOf(text: string, fail: Fail): Generator<CST.Token, void, void> {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    // The document and a scalar are open in addition to the collections.
    if (parser.stack.length > maxDepth + 3) fail('nested too deeply', parser.offset)
  }
  yield* parser.end()
}
