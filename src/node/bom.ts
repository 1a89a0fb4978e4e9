// A bill of materials of a model (CycloneDX 1.6): what it is, which files it has, and their digests. The optional package of CycloneDX
// itself writes it; the model card, which the package does not know yet, is added to what it made.
import { basename } from 'node:path'
import type { Architecture } from '../content/architecture.js'
import { failWith, usageCodes } from '../errors/index.js'
import { digestPayloads } from '../inspect/digest-payloads.js'
import { type ModelSummary, summarizeModel } from '../inspect/summary.js'
import { type Metadata, type Model, rangePayload } from '../model/index.js'
import type { WorkerPool } from '../threads/index.js'

/** How `billOfMaterials` reads a model. */
export interface BomOptions {
  /** What the model is called, if it does not say so itself. */
  readonly name: string
  /** Threads that large work can be spread over. */
  readonly pool?: WorkerPool | undefined
  readonly signal?: AbortSignal | undefined
  /** Called as bytes are read. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

/** The bill of materials, as JSON. Reads all files of the model for their digests; the same files give the same text. */
export async function billOfMaterials(model: Model, options: BomOptions): Promise<string> {
  const { Enums, Models, Serialize, Spec } = await loadCycloneDx()
  const { metadata, format } = model
  const summary = await summarizeModel(model, options.signal)
  const digests = await fileDigests(model, options)
  const licence = firstText(metadata, ['general.license', 'license'])
  const component = new Models.Component(
    Enums.ComponentType.MachineLearningModel,
    firstText(metadata, ['general.name', 'model_name']) ?? options.name,
    {
      bomRef: 'model',
      ...optional('version', firstText(metadata, ['general.version', 'model_version'])),
      ...optional('author', firstText(metadata, ['general.author', 'author'])),
      ...optional('publisher', firstText(metadata, ['general.organization'])),
      ...optional('description', firstText(metadata, ['general.description', 'description'])),
    },
  )
  if (licence !== undefined) component.licenses.add(new Models.NamedLicense(licence))
  for (const [name, digest] of digests) {
    const hashes = new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], digest]])
    component.components.add(new Models.Component(Enums.ComponentType.File, name, { bomRef: `file:${name}`, hashes }))
  }
  for (const [name, value] of facts(format, summary))
    component.properties.add(new Models.Property(`tare:${name}`, value))
  const bom = new Models.Bom()
  bom.metadata.component = component
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  const normal = factory.makeForBom().normalize(bom, { sortLists: true }) as NormalBom
  const card = summary.architecture && modelCard(summary.architecture)
  const described = { ...normal.metadata.component, ...(card && { modelCard: card }) }
  return `${JSON.stringify({ ...normal, metadata: { ...normal.metadata, component: described } }, null, 2)}\n`
}

/** What this adds to. */
interface NormalBom {
  readonly metadata: { readonly component: object }
}

const optional = <Key extends string>(key: Key, value: string | undefined): { readonly [K in Key]?: string } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: string }

function firstText(metadata: Metadata, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = metadata.get(key)
    if (value?.type === 'str' && value.value !== '') return value.value
  }
  return undefined
}

/** By the name without its folder; files of the same name in several folders keep theirs. */
async function fileDigests(model: Model, options: BomOptions): Promise<Map<string, string>> {
  const payloads = model.files.map((file) => rangePayload(file, 0, file.size))
  const digests = await digestPayloads(payloads, 'sha256', options)
  const found = new Map<string, string>()
  for (const [i, file] of model.files.entries()) {
    const short = basename(file.name)
    found.set(found.has(short) ? file.name : short, digests.get(payloads[i]!)!)
  }
  return found
}

function facts(
  format: string,
  { parameters, bitsPerWeight, weightBytes }: ModelSummary,
): [name: string, value: string][] {
  return [
    ['format', format],
    ['parameters', String(parameters)],
    ['weightBytes', String(weightBytes)],
    ...(bitsPerWeight === null ? [] : [['bitsPerWeight', bitsPerWeight.toFixed(2)] as [string, string]]),
  ]
}

function modelCard({ architecture, ...numbers }: Architecture): object {
  const properties = Object.entries(numbers)
    .filter(([, value]) => typeof value === 'number' || typeof value === 'string')
    .map(([key, value]) => ({ name: `tare:${key}`, value: String(value) }))
  return { modelParameters: { ...(architecture !== undefined && { modelArchitecture: architecture }) }, properties }
}

async function loadCycloneDx() {
  try {
    return await import('@cyclonedx/cyclonedx-library')
  } catch (cause) {
    const message = 'a bill of materials needs one more package: npm install @cyclonedx/cyclonedx-library'
    return failWith(usageCodes.option, { file: '--bom', message }, { cause })
  }
}
