// The models of the page. Each has a number for as long as the page is open, which addresses use.
import { computed, signal } from '@preact/signals'
import type { Finding } from 'tare'
import type { ModelFiles, ModelHead, NamedFile } from '../engine/rooms/models/open.js'
import { ask, onSessionReplaced } from '../engine/session.js'
import { findingFrom } from '../engine/wire.js'
import { address, go } from './location.js'

export interface OpenedModel {
  readonly id: number
  /** The name of its main file. */
  readonly title: string
  readonly from: ModelFiles
  /** How the command calls it: a path as far as the page knows it, or an address. */
  readonly argument: string
  readonly status: 'opening' | 'open' | 'failed' | 'closed'
  readonly head?: ModelHead | undefined
  /** Why it could not be opened. */
  readonly failure?: Finding | undefined
}

export const models = signal<readonly OpenedModel[]>([])

/** The model that the address names. */
export const currentModel = computed<OpenedModel | undefined>(() => {
  const { model } = address.value
  return model === undefined ? undefined : models.value[model]
})

function update(id: number, changes: Partial<OpenedModel>): void {
  models.value = models.value.map((each) => (each.id === id ? { ...each, ...changes } : each))
}

/** Opens a model and resolves when its index is read, or why not is known. */
export async function addModel(from: ModelFiles, argument = argumentOf(from)): Promise<number> {
  const id = models.peek().length
  const last = argument.replace(/[?#].*$/, '').replace(/^.*[/\\](?=.)/, '')
  // `tare view .` names nothing.
  const title = /^[./\\]*$/.test(last) ? titleOf(from, last) : last
  models.value = [...models.peek(), { id, title, from, argument, status: 'opening' }]
  await open(id)
  return id
}

const titleOf = (from: ModelFiles, otherwise: string): string =>
  from.kind === 'address'
    ? (from.folder?.name ?? decodeURIComponent(from.address.replace(/^.*\//, '')))
    : (from.files[0]?.path ?? otherwise)

/** How the command takes a file: one that begins with a minus would be an option. */
const fileWord = (path: string): string => (path.startsWith('-') ? `./${path}` : path)

/** Of a folder that is one model, the folder. */
function argumentOf(from: ModelFiles): string {
  if (from.kind === 'address') return from.address
  const path = from.files[0]?.path ?? ''
  const folder = from.isFolder ? path.replace(/\/?[^/]*$/, '') : ''
  return fileWord(folder === '' ? path : folder)
}

async function open(id: number): Promise<void> {
  const { from, title } = models.peek()[id]!
  try {
    const head = await ask('open', { model: id, from })
    update(id, { status: 'open', head })
  } catch (error) {
    update(id, { status: 'failed', failure: findingFrom(error, title) })
  }
}

/** Files that were chosen or dropped together: as many models as there are among them. Shows the first. */
export async function addFiles(files: readonly NamedFile[]): Promise<void> {
  if (files.length === 0) return
  const byPath = new Map(files.map((each) => [each.path, each]))
  const groups = await ask('group', { paths: [...byPath.keys()] })
  const first = models.peek().length
  const opening = groups.map(({ paths, isFolder }) =>
    addModel({ kind: 'files', files: paths.map((path) => byPath.get(path)!), isFolder }),
  )
  go({ model: first, screen: 'overview', query: {} })
  await Promise.all(opening)
}

export async function addAddress(text: string): Promise<void> {
  const opening = addModel({ kind: 'address', address: text })
  go({ model: models.peek().length - 1, screen: 'overview', query: {} })
  await opening
}

export async function removeModel(id: number): Promise<void> {
  update(id, { status: 'closed', head: undefined })
  if (address.peek().model === id) go({ screen: 'drop', query: {} })
  await ask('close', { model: id })
}

// A new worker has no models: they are opened again, under the same numbers.
onSessionReplaced(() => {
  for (const { id, status } of models.peek()) if (status === 'open' || status === 'opening') void open(id)
})
