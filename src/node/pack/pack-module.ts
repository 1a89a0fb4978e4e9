// The inputs of `tare pack`: JSON, YAML, or a module that exports a description.
import { realpath } from 'node:fs/promises'
import { dirname, extname, isAbsolute, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ByteSource } from '../../bytes/index.js'
import { callerWord, failWith, ioCodes, TareError } from '../../errors/index.js'
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
import { withIoErrors } from '../files/io-error.js'
import { openInput } from '../input.js'

/** How a description is read from a file. */
export interface PackFileOptions {
  /** A JSON or YAML file that fills the fields of the description. */
  readonly data?: string | undefined
  /** The folder of the data files. Default: that of the description. */
  readonly root?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A description is read into memory as a whole; larger tensors belong in their own files. */
const maxTextBytes = 256 << 20
const moduleExtensions: ReadonlySet<string> = new Set(['.mjs', '.cjs', '.js', '.mts', '.cts', '.ts'])
const yamlExtensions: ReadonlySet<string> = new Set(['.yaml', '.yml'])

/**
 * The model of `description.json`, `description.yaml`, `module.mjs#Name` (the default export if there is no name) or `-` for JSON from
 * standard input. A module is executed. `closeModel` closes all files.
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

/** `model.mjs#Name`; in other paths # is an ordinary character. */
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

/** A description is filled in; a function is called with the fields and returns one; a class is constructed with them and is one. */
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
  const values = fields === undefined ? {} : toPlain(fields)
  return guard(input, async () => (await build(exported, values)) as ModelDescription)
}

/** A class is constructed, any other function called. */
function build(made: unknown, fields: unknown): unknown {
  if (!/^class\b/.test(Function.prototype.toString.call(made))) return (made as (fields: unknown) => unknown)(fields)
  return new (made as new (fields: unknown) => unknown)(fields)
}

/** Runs user code. Its exceptions are errors of the input, not ours. */
async function guard<T>(file: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof TareError) throw error
    const message = error instanceof Error ? `the module failed: ${error.message}` : `the module threw ${String(error)}`
    return failWith(packCodes.module, { file, message }, { cause: error })
  }
}

/**
 * Opens the data files of a description, only in its folder or below. A description from elsewhere must not copy arbitrary local files into
 * a model.
 */
function dataFileReader(folder: string): (name: string) => Promise<ByteSource> {
  return async (name) => {
    const parts = name.split(/[/\\]/)
    if (isAbsolute(name) || /^[A-Za-z]:/.test(name) || name.includes('\0') || parts.includes('..'))
      refusePath(
        name,
        `the name leads out of ${folder}; data files are looked for there or in ${callerWord('--root', '`root`')}`,
      )
    if (parts.every((part) => part === '' || part === '.')) refusePath(name, 'this is not a file name')
    const path = join(folder, name)
    const target = await withIoErrors(name, () => realpath(path))
    const home = await withIoErrors(folder, () => realpath(folder))
    if (!target.startsWith(home.endsWith(sep) ? home : home + sep))
      refusePath(name, `this is a link that leads out of ${folder}, to ${target}`)
    return FileSource.open(path)
  }
}

function refusePath(file: string, message: string): never {
  failWith(ioCodes['unsafe-path'], { file, message })
}
