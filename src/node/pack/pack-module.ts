// What `tare pack` is given: JSON, YAML, or a module that exports a description.
import { dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ByteSource } from '../../bytes/index.js'
import { failWith, TareError } from '../../errors/index.js'
import type { Model } from '../../model/index.js'
import {
  type DescriptionNode,
  fillDescription,
  type ModelDescription,
  packCodes,
  packModel,
  parseDescription,
} from '../../pack/index.js'
import { toPlain } from '../../pack/read-json.js'
import { FileSource } from '../files/file-source.js'
import { openInput } from '../input.js'
import { dataFileReader } from './pack-files.js'

export interface PackFileOptions {
  /** A JSON or YAML file that fills the fields of the description. */
  readonly data?: string | undefined
  /** The folder that data files are in; by default that of the description. */
  readonly root?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A description is read into memory whole; tensors of this size belong into files of their own. */
const maxTextBytes = 256 << 20
const moduleExtensions: ReadonlySet<string> = new Set(['.mjs', '.cjs', '.js', '.mts', '.cts', '.ts'])
const yamlExtensions: ReadonlySet<string> = new Set(['.yaml', '.yml'])

/**
 * The model of `description.json`, `description.yaml`, `module.mjs#Name` (without a name the default export) or `-` for JSON from
 * standard input. A module is run. `closeModel` closes all files.
 */
export async function packFile(input: string, options: PackFileOptions = {}): Promise<Model> {
  const { path, name } = splitExport(input)
  const files: ByteSource[] = []
  try {
    const source = path === '-' ? await openInput('-', { signal: options.signal }) : await FileSource.open(path)
    files.push(source)
    const data = options.data === undefined ? undefined : await FileSource.open(options.data)
    if (data) files.push(data)
    const fields = data && (await readText(data, options.signal))
    const description = isModule(path)
      ? await fromModule(input, path, name, fields, options.data)
      : fill(await readText(source, options.signal), fields, input, options.data)
    const folder = options.root ?? (path === '-' ? '.' : dirname(path))
    const readFile = dataFileReader(folder)
    const model = await packModel(description, { name: input, source, readFile, signal: options.signal })
    return { ...model, files: [...model.files, ...(data ? [data] : [])] }
  } catch (error) {
    for (const file of files) await file.close()
    throw error
  }
}

const isModule = (path: string): boolean => moduleExtensions.has(extname(path).toLowerCase())

/** `model.mjs#Name`; in any other path a # is a character like any other. */
function splitExport(input: string): { path: string; name: string } {
  const at = input.lastIndexOf('#')
  const path = at < 0 ? input : input.slice(0, at)
  return at >= 0 && isModule(path) ? { path, name: input.slice(at + 1) || 'default' } : { path: input, name: 'default' }
}

async function readText(source: ByteSource, signal: AbortSignal | undefined): Promise<DescriptionNode> {
  const { name, size } = source
  if (size > maxTextBytes)
    failWith(packCodes['too-large'], { file: name, message: `it has ${size} bytes; put the tensors into .npy files` })
  const bytes = await source.read(0, size, { signal })
  if (!yamlExtensions.has(extname(name).toLowerCase())) return parseDescription(bytes, name)
  const { parseYamlDescription } = await import('./pack-yaml.js')
  return parseYamlDescription(bytes, name)
}

function fill(
  description: unknown,
  fields: DescriptionNode | undefined,
  name: string,
  dataName?: string,
): ModelDescription {
  if (fields === undefined) return description as ModelDescription
  return fillDescription(description, fields, { name, dataName })
}

/** A description is filled; a function is called with the fields and returns one; a class is constructed with them and is one. */
async function fromModule(
  input: string,
  path: string,
  name: string,
  fields: DescriptionNode | undefined,
  dataName: string | undefined,
): Promise<ModelDescription> {
  const module = await guard(input, () => import(pathToFileURL(resolve(path)).href) as Promise<Record<string, unknown>>)
  if (!Object.hasOwn(module, name)) {
    const names = Object.keys(module).filter((each) => each !== 'default')
    const hint = names.length === 0 ? 'it exports nothing' : `it exports ${names.join(', ')}; write ${path}#${names[0]}`
    failWith(packCodes.module, { file: path, message: `there is no export "${name}"; ${hint}` })
  }
  const exported = module[name]
  if (typeof exported !== 'function') return fill(exported, fields, input, dataName)
  const given = fields === undefined ? {} : toPlain(fields)
  return guard(input, async () => (await build(exported, given)) as ModelDescription)
}

/** A class is constructed, any other function called. */
function build(made: unknown, fields: unknown): unknown {
  if (!/^class\b/.test(Function.prototype.toString.call(made))) return (made as (fields: unknown) => unknown)(fields)
  return new (made as new (fields: unknown) => unknown)(fields)
}

/** Runs code of the user. What it throws is an error of the input, not of ours. */
async function guard<T>(file: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof TareError) throw error
    const message = error instanceof Error ? `the module failed: ${error.message}` : `the module threw ${String(error)}`
    return failWith(packCodes.module, { file, message }, { cause: error })
  }
}
