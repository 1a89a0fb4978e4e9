// OpenSSF Model Signing 1.0: the list of files with their digests, and the in-toto statement that carries it.
import { compareUtf8, toHex } from '../bytes/index.js'
import { digestOf } from '../digest/index.js'
import { failWith } from '../errors/index.js'
import { hexAt, listAt, objectAt, type Refuse, shown, textAt } from '../wire/json/fields.js'
import { signatureCodes } from './codes.js'

export const hashTypes = ['sha256', 'blake2b', 'blake3'] as const

/** The digests that a signature can be made of. */
export type HashType = (typeof hashTypes)[number]

/** How the files of a model were listed and hashed. */
export interface Serialization {
  readonly hash: HashType
  /** Files are cut into pieces of this length, each with its own digest. */
  readonly shardSize?: number | undefined
  readonly allowSymlinks: boolean
  /** Paths below the model that are not part of it, with everything in them. */
  readonly ignorePaths: readonly string[]
}

export interface Resource {
  /** The path below the model, with `/`; of a single file `.`, and of a piece with `:start:end`. */
  readonly name: string
  readonly digest: string
  /** Digests of the tensors in the file, by name, in the annotation that tare adds on request. */
  readonly tensors?: TensorDigests | undefined
}

export interface TensorDigests {
  readonly algorithm: 'blake3'
  readonly digests: Readonly<Record<string, string | null>>
}

export interface Manifest {
  readonly name: string
  readonly serialization: Serialization
  readonly resources: readonly Resource[]
}

const statementType = 'https://in-toto.io/Statement/v1'
const predicateType = 'https://model_signing/signature/v1.0'
/** Before 1.0 the files were the subjects of the statement. */
const oldPredicateType = 'https://model_signing/Digests/v0.1'
const tensorsKey = 'tare.tensors'

/** The statement to sign: resources in the order of their names, and the digest over all digests as its subject. */
export async function statementOf({ name, serialization, resources }: Manifest): Promise<unknown> {
  const { hash, shardSize, allowSymlinks, ignorePaths } = serialization
  const sorted = [...resources].sort((a, b) => compareUtf8(a.name, b.name))
  return {
    _type: statementType,
    subject: [{ name, digest: { sha256: await rootDigest(sorted) } }],
    predicateType,
    predicate: {
      serialization: {
        method: shardSize === undefined ? 'files' : 'shards',
        hash_type: hash,
        ...(shardSize !== undefined && { shard_size: shardSize }),
        allow_symlinks: allowSymlinks,
        ...(ignorePaths.length > 0 && { ignore_paths: ignorePaths }),
      },
      resources: sorted.map((resource) => ({
        name: resource.name,
        algorithm: algorithmName(serialization),
        digest: resource.digest,
        ...(resource.tensors && { annotations: { [tensorsKey]: resource.tensors } }),
      })),
    },
  }
}

/** The reference implementation compares this name too, and states the size of pieces in it. */
const algorithmName = ({ hash, shardSize }: Serialization): string =>
  shardSize === undefined ? hash : `${hash}-sharded-${shardSize}`

async function rootDigest(resources: readonly Resource[]): Promise<string> {
  const bytes = new Uint8Array(resources.reduce((sum, { digest }) => sum + digest.length / 2, 0))
  let at = 0
  for (const { digest } of resources)
    for (let i = 0; i < digest.length; i += 2) bytes[at++] = parseInt(digest.slice(i, i + 2), 16)
  return toHex(await digestOf('sha256', bytes))
}

/** The list in a signed statement; `file` is the signature's name for messages. Nothing in it is trusted before it is checked. */
export async function manifestOf(statement: unknown, file: string): Promise<Manifest & { readonly isOld: boolean }> {
  const refuse = (path: string, message: string): never =>
    failWith(signatureCodes.statement, { file, offset: 0, path, message })
  const at = objectAt(statement, '', refuse)
  if (at._type !== statementType)
    refuse('_type', `an in-toto statement has ${statementType} here, this one ${shown(at._type)}`)
  const subjects = listAt(at.subject, 'subject', refuse)
  if (at.predicateType === oldPredicateType) return { ...oldManifest(subjects, refuse), isOld: true }
  if (at.predicateType !== predicateType)
    refuse('predicateType', `a signed model has ${predicateType} here, this one ${shown(at.predicateType)}`)
  if (subjects.length !== 1) refuse('subject', `expected one subject, not ${subjects.length}`)
  const subject = objectAt(subjects[0], 'subject[0]', refuse)
  const predicate = objectAt(at.predicate, 'predicate', refuse)
  const serialization = serializationOf(predicate.serialization, refuse)
  const resources = listAt(predicate.resources, 'predicate.resources', refuse).map((each, i) =>
    resourceOf(each, `predicate.resources[${i}]`, serialization, refuse),
  )
  refuseTwice(resources, refuse)
  const stated = objectAt(subject.digest, 'subject[0].digest', refuse).sha256
  const found = await rootDigest(resources)
  if (stated !== found) {
    const message = `the digests in the list hash to ${found}, the statement says ${shown(stated)}`
    failWith(signatureCodes.inconsistent, { file, offset: 0, path: 'subject[0].digest.sha256', message })
  }
  return { name: textAt(subject.name, 'subject[0].name', refuse), serialization, resources, isOld: false }
}

function oldManifest(subjects: readonly unknown[], refuse: Refuse): Manifest {
  const serialization: Serialization = { hash: 'sha256', allowSymlinks: false, ignorePaths: [] }
  const resources = subjects.map((each, i) => {
    const path = `subject[${i}]`
    const subject = objectAt(each, path, refuse)
    const { sha256 } = objectAt(subject.digest, `${path}.digest`, refuse)
    return {
      name: pathOf(subject.name, `${path}.name`, refuse),
      digest: digestText(sha256, `${path}.digest.sha256`, 'sha256', refuse),
    }
  })
  refuseTwice(resources, refuse)
  return { name: '', serialization, resources }
}

function serializationOf(value: unknown, refuse: Refuse): Serialization {
  const path = 'predicate.serialization'
  const { method, hash_type, shard_size, allow_symlinks, ignore_paths } = objectAt(value, path, refuse)
  if (method !== 'files' && method !== 'shards')
    refuse(`${path}.method`, `expected files or shards, not ${shown(method)}`)
  // The reference signs as blake2b what it calls blake2 elsewhere.
  const hash = hashTypes.find((name) => name === (hash_type === 'blake2' ? 'blake2b' : hash_type))
  if (!hash) return refuse(`${path}.hash_type`, `expected one of ${hashTypes.join(', ')}, not ${shown(hash_type)}`)
  if (typeof allow_symlinks !== 'boolean') refuse(`${path}.allow_symlinks`, 'expected true or false')
  const shardSize = method === 'shards' ? (shard_size as number) : undefined
  if (shardSize !== undefined && !(Number.isSafeInteger(shardSize) && shardSize > 0))
    refuse(`${path}.shard_size`, `expected a positive number of bytes, not ${shown(shard_size)}`)
  const ignorePaths = listAt(ignore_paths ?? [], `${path}.ignore_paths`, refuse).map((each, i) =>
    textAt(each, `${path}.ignore_paths[${i}]`, refuse),
  )
  return { hash, shardSize, allowSymlinks: allow_symlinks as boolean, ignorePaths }
}

function resourceOf(value: unknown, path: string, serialization: Serialization, refuse: Refuse): Resource {
  const fields = objectAt(value, path, refuse)
  const { hash, shardSize } = serialization
  const name = pathOf(fields.name, `${path}.name`, refuse)
  if (fields.algorithm !== hash && fields.algorithm !== algorithmName(serialization))
    refuse(`${path}.algorithm`, `${hash} is what the files are hashed with, not ${shown(fields.algorithm)}`)
  if (shardSize !== undefined && !/^.+:\d{1,16}:\d{1,16}$/s.test(name))
    refuse(`${path}.name`, 'the name of a piece ends with :start:end')
  const tensors = tensorsOf(fields.annotations)
  return { name, digest: digestText(fields.digest, `${path}.digest`, hash, refuse), ...(tensors && { tensors }) }
}

/** Annotations of other tools, and those that cannot be read, are no concern of the signature. */
function tensorsOf(annotations: unknown): TensorDigests | undefined {
  const found = (annotations as Record<string, unknown> | null | undefined)?.[tensorsKey] as TensorDigests | undefined
  const digests = found?.digests
  if (found?.algorithm !== 'blake3' || typeof digests !== 'object' || digests === null) return undefined
  return Object.values(digests).every((digest) => digest === null || typeof digest === 'string') ? found : undefined
}

/** In bytes. */
const digestLengths: Readonly<Record<HashType, number>> = { sha256: 32, blake2b: 64, blake3: 32 }

const digestText = (value: unknown, path: string, hash: HashType, refuse: Refuse): string =>
  hexAt(value, digestLengths[hash], path, refuse)

/** Names come from the signature: nothing outside the model may be reached through them. */
function pathOf(value: unknown, path: string, refuse: Refuse): string {
  const name = textAt(value, path, refuse)
  if (name === '.') return name
  const isPlain = name !== '' && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isPlain && !name.includes('\0') ? name : refuse(path, `${shown(name)} is not a path inside the model`)
}

function refuseTwice(resources: readonly Resource[], refuse: Refuse): void {
  const seen = new Set<string>()
  for (const { name } of resources) {
    if (seen.has(name)) refuse('predicate.resources', `${shown(name)} is listed twice`)
    seen.add(name)
  }
}
