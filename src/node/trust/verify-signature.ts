// Checks a model against its signature: who signed it, and whether every file is what was signed.
import { type Code, type Finding, findingOf, TareError } from '../../errors/index.js'
import { pairBy } from '../../model/pair-by.js'
import {
  type Bundle,
  type Manifest,
  manifestOf,
  type Resource,
  signatureCodes,
  type TensorDigests,
} from '../../trust/index.js'
import { pathIn } from '../output.js'
import { type HashFilesOptions, hashFiles } from './hash-files.js'
import { gitPaths, type ListedFile, listFiles, listNamed } from './list-files.js'
import { nameOfModel, pathBelow } from './place.js'
import { openStatement, type Trust } from './statement.js'
import { fileOfPiece, tensorDigests } from './tensor-digests.js'

/** What a signature is checked against, and which files count. */
export interface SignatureOptions extends HashFilesOptions {
  readonly trust: Trust
  /** Paths below the model that are not part of it, beside those that the signature names. */
  readonly ignorePaths?: readonly string[] | undefined
  /** Only the files that were signed are looked at. */
  readonly ignoreUnsigned?: boolean | undefined
}

/** Who signed, what was compared, and what is wrong. */
export interface SignatureResult {
  readonly findings: readonly Finding[]
  readonly method: Bundle['method'] | null
  /** Who signed: the hint of the key, the subject of the certificate, or the identity. */
  readonly signer: string | null
  /** The name of the model when it was signed. */
  readonly name: string | null
  /** What was compared with the signature. */
  readonly checked: { readonly files: number; readonly bytes: number }
}

/** `signature` is the content of the signature file, and `file` its path. Errors of the signature are findings, as those of the files are. */
export async function verifySignature(
  model: string,
  signature: Uint8Array,
  file: string,
  options: SignatureOptions,
): Promise<SignatureResult> {
  const findings: Finding[] = []
  let result: Omit<SignatureResult, 'findings'> = {
    method: null,
    signer: null,
    name: null,
    checked: { files: 0, bytes: 0 },
  }
  try {
    const { statement, method, signer, isOld } = await openStatement(signature, file, options.trust)
    const manifest = await manifestOf(statement, file)
    result = { ...result, method, signer, name: manifest.name || null }
    if (isOld || manifest.isOld)
      findings.push(
        findingOf(signatureCodes['old-form'], {
          file,
          message: 'it was written before version 1.1 of Model Signing; sign the model again',
        }),
      )
    const files = await filesOf(model, file, manifest, options)
    const found = await hashFiles(files, manifest.serialization, options)
    result = { ...result, checked: { files: files.length, bytes: found.bytes } }
    for (const finding of await compare(model, manifest, files, found.resources, options)) findings.push(finding)
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof TareError)) throw error
    findings.push(error.finding)
  }
  return { ...result, findings }
}

/** The files to compare: those that are there or, on request, only those that were signed. */
async function filesOf(
  model: string,
  file: string,
  manifest: Manifest,
  options: SignatureOptions,
): Promise<ListedFile[]> {
  const { allowSymlinks, ignorePaths } = manifest.serialization
  const { remote } = options
  const signed = new Set(manifest.resources.map((resource) => fileOf(resource, manifest)))
  if (options.ignoreUnsigned) return listNamed(model, [...signed], { allowSymlinks, remote })
  const ignored = [...gitPaths, ...ignorePaths, ...(options.ignorePaths ?? []), (await pathBelow(model, file)) ?? '']
  const files = await listFiles(model, { allowSymlinks, ignorePaths: ignored, remote })
  // The name of a single file is a point, or its own name.
  const own = await nameOfModel(model)
  return files[0]?.name === '.' && !signed.has('.') && signed.has(own) ? [{ ...files[0], name: own }] : files
}

/** What changed, is missing or is extra. */
async function compare(
  model: string,
  manifest: Manifest,
  files: readonly ListedFile[],
  found: readonly Resource[],
  options: SignatureOptions,
): Promise<Finding[]> {
  const { pairs, onlyA, onlyB } = pairBy(manifest.resources, found, ({ name }) => name)
  const note = (code: Code, { name }: Resource, message: string): Finding =>
    findingOf(
      code,
      { ...(name !== '.' && { offset: 0, path: name }), message },
      placeOf(model, fileOf({ name }, manifest)),
    )
  const findings = [
    ...onlyA.map((resource) => note(signatureCodes.missing, resource, 'it was signed, and is not there')),
    ...onlyB.map((resource) => note(signatureCodes.extra, resource, 'it is there, and was not signed')),
  ]
  const changed = new Set<string>()
  for (const { a, b } of pairs) {
    if (a.digest === b.digest) continue
    changed.add(fileOf(a, manifest))
    findings.push(note(signatureCodes.changed, a, `its digest is ${b.digest}, signed was ${a.digest}`))
  }
  for (const resource of [...onlyA, ...onlyB]) changed.add(fileOf(resource, manifest))
  for (const file of files) {
    const { name, path } = file
    const signed =
      changed.has(name) && manifest.resources.find((each) => each.tensors && fileOf(each, manifest) === name)?.tensors
    if (signed)
      for (const finding of compareTensors(signed, await tensorDigests(file, options), path)) findings.push(finding)
  }
  return findings
}

function compareTensors(signed: TensorDigests, found: TensorDigests | undefined, file: string): Finding[] {
  if (!found) return []
  const names = new Set([...Object.keys(signed.digests), ...Object.keys(found.digests)])
  return [...names].flatMap((name) => {
    const [before, after] = [signed, found].map(({ digests }) =>
      Object.hasOwn(digests, name) ? digests[name] : undefined,
    )
    if (before === after) return []
    const message =
      before === undefined
        ? 'the tensor was not there when it was signed'
        : after === undefined
          ? 'the tensor is missing'
          : 'the tensor changed'
    return [findingOf(signatureCodes.tensor, { path: `tensors[${JSON.stringify(name)}]`, message }, file)]
  })
}

const placeOf = (model: string, name: string): string => (name === '.' ? model : pathIn(model, name))

/** The file that a resource is about: in a list of pieces, the name without the range. */
const fileOf = ({ name }: Pick<Resource, 'name'>, { serialization }: Manifest): string =>
  serialization.shardSize === undefined ? name : fileOfPiece(name)
