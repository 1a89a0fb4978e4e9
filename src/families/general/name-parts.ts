// What the name of a model tells: names such as `Llama-3.2-8B-Instruct-v0.1` are made of a base name, a size, what it was tuned for, and a
// version.

export interface NameParts {
  readonly name?: string | undefined
  readonly organization?: string | undefined
  readonly basename?: string | undefined
  readonly finetune?: string | undefined
  readonly version?: string | undefined
  readonly sizeLabel?: string | undefined
}

type Kind = 'basename' | 'size' | 'finetune' | 'version' | 'type'

interface Word {
  text: string
  readonly kinds: Set<Kind>
}

const version = /^(v|iter)?\d+(\.\d+)*$/i
const type = /^(i?q\d(_\w)*|b?fp?(16|32))$/i
const size = /^((A|\d+x)?\d+([._]\d+)?[KMBT]\d?|small|mini|medium|large|x?xl)$/i
const tuning = /^(chat|instruct|vision|lora)$/i

/** `parameters`: how many weights the model has, to tell a size from a context length. */
export function partsOfName(id: string, parameters: number): NameParts {
  // A sentence, not an identifier.
  if (id.includes(' ')) return { name: id }
  const slash = id.indexOf('/')
  const owner = slash < 0 ? undefined : id.slice(0, slash)
  const name = id.slice(slash + 1)
  const words = name
    .split('-')
    .filter((text) => text !== '')
    .map((text): Word => ({ text, kinds: new Set() }))
  for (const [i, word] of words.entries()) classify(word, i, parameters)
  dropWordSizes(words)
  markBasename(words)
  const joined = (kind: Kind, isMeant = (_: Word): boolean => true): string | undefined =>
    words
      .filter((word) => word.kinds.has(kind) && isMeant(word))
      .map(({ text }) => text)
      .join('-') || undefined
  const sizes = words.filter(({ kinds }) => kinds.has('size')).map(({ text }) => text)
  const sizeLabel = [...new Set(sizes)].join('-') || undefined
  const finetune = joined('finetune')
  const stated = joined('version', ({ kinds }) => !kinds.has('basename'))
  const isTelling = sizeLabel !== undefined || finetune !== undefined || stated !== undefined
  return {
    name,
    organization: owner?.startsWith('.') ? undefined : owner,
    basename: isTelling ? joined('basename') : undefined,
    finetune,
    version: stated,
    sizeLabel,
  }
}

function classify(word: Word, position: number, parameters: number): void {
  const { text, kinds } = word
  if (version.test(text)) kinds.add('version')
  else if (type.test(text)) {
    kinds.add('type')
    word.text = text.toUpperCase()
  } else if (position > 0 && size.test(text)) classifySize(word, parameters)
  else if (position > 0 && tuning.test(text)) kinds.add('finetune')
}

function classifySize(word: Word, parameters: number): void {
  let text = word.text.replaceAll('_', '.')
  // Bloom writes 7b1 for 7.1B.
  if (/\d$/.test(text)) text = `${text.slice(0, -2)}.${text.at(-1)}${text.at(-2)}`
  if (/\d[kmbt]$/.test(text)) text = text.slice(0, -1) + text.at(-1)!.toUpperCase()
  const stated = pythonFloat(text.slice(0, -1))
  if (parameters > 0 && stated !== undefined) {
    const labelled = stated * 1000 ** ' KMBT'.indexOf(text.at(-1)!)
    if (Math.abs(labelled - parameters) > Math.floor((7 * parameters) / 8)) {
      // Far from the size of the model: a context length, most likely.
      word.kinds.add('finetune')
      text = text.slice(0, -1) + text.at(-1)!.toLowerCase()
    }
  }
  if (word.kinds.size === 0) word.kinds.add('size')
  word.text = text
}

const pythonFloat = (text: string): number | undefined => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined)

/** "mini" gives way to "8B". */
function dropWordSizes(words: readonly Word[]): void {
  const sizes = words.filter(({ kinds }) => kinds.has('size'))
  if (!sizes.some(({ text }) => /\d/.test(text))) return
  for (const { text, kinds } of sizes) if (/^\p{L}+$/u.test(text)) kinds.delete('size')
}

function markBasename(words: readonly Word[]): void {
  let isStart = true
  for (const { text, kinds } of words) {
    isStart &&= (kinds.size === 0 && /^\p{L}/u.test(text)) || kinds.has('version')
    if (isStart) kinds.add('basename')
    else if (kinds.size === 0) kinds.add('finetune')
  }
  for (const { kinds } of words.toReversed()) {
    if (!kinds.has('basename') || kinds.size < 2) break
    kinds.delete('basename')
  }
}

/** `my-model-v1` as "My Model v1": words in small letters are capitalized, unless they are versions or begin with a digit. */
export function titleOf(id: string): string {
  return id
    .replaceAll('-', ' ')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => (isLower(word) && !/^(v\d+(\.\d+)*|\d.*)$/.test(word) ? capitalized(word) : word))
    .join(' ')
}

const isLower = (word: string): boolean => word === word.toLowerCase() && word !== word.toUpperCase()

/** Every run of letters begins with a capital, as Python's `title` does it. */
const capitalized = (word: string): string =>
  word.replace(/\p{L}+/gu, (letters) => letters[0]!.toUpperCase() + letters.slice(1).toLowerCase())
