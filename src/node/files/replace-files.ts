// Replaces a set of files, all of them or none. A single rename is atomic, but a crash between two renames would leave old and new files
// mixed. So a journal first lists the complete new files and their targets. Then the old files are moved aside, the main one first, since
// the others are not opened without it; then the new ones are moved in, the main one last. A run that finds a journal completes it: every
// step can be repeated. After an error all files are moved back.
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { failWith, ioCodes } from '../../errors/index.js'
import { forgetTemp, removeQuietly, trackTemp } from '../unfinished.js'
import { ioError } from './io-error.js'
import {
  asideNameFor,
  isLeftover,
  isRunning,
  machineTag,
  setJournalEnding,
  setJournalFor,
  tempNameFor,
} from './temp-files.js'

/** A complete file under a temporary name, and its final name. */
export interface Replacement {
  readonly temp: string
  readonly target: string
}

interface Move extends Replacement {
  /** Where the old file waits. */
  readonly aside: string
}

interface Journal {
  readonly journal: 'tare set 1'
  readonly process: number
  readonly machine: string
  /** The main file first; paths are relative to the journal. */
  readonly files: readonly Move[]
}

const isJournal = (name: string): boolean => name.startsWith('.') && name.endsWith(`.${setJournalEnding}`)

/**
 * The first file is the main one. After an error the temporary files still exist, unless the error is `io/interrupted`: then they belong to
 * the journal. Synchronous, so that no signal handler can run between two renames.
 */
export function replaceFiles(files: readonly Replacement[]): void {
  for (const { target } of files) assertNoDirectory(target)
  if (files.length > 1 && files.some(({ target }) => existsSync(target))) replaceSet(files)
  else moveIn(files)
  for (const directory of new Set(files.map(({ target }) => dirname(target)))) syncDirectory(directory)
}

/** A directory would be moved aside like a file, with all its content. */
function assertNoDirectory(target: string): void {
  if (!statSync(target, { throwIfNoEntry: false })?.isDirectory()) return
  failWith(ioCodes['not-a-file'], { file: target, message: 'this is a directory' })
}

/** For new files, or a single file. */
function moveIn(files: readonly Replacement[]): void {
  const moved: Replacement[] = []
  for (const file of mainLast(files)) {
    try {
      renameSync(file.temp, file.target)
    } catch (error) {
      for (const { target } of moved) removeQuietly(target)
      throw ioError(error, file.target)
    }
    forgetTemp(file.temp)
    moved.push(file)
  }
}

function replaceSet(files: readonly Replacement[]): void {
  const moves = files.map((file): Move => ({ ...file, aside: asideNameFor(file.target) }))
  const journal = writeJournal(moves)
  // From here on the next run completes the work if this process ends.
  for (const { temp } of moves) forgetTemp(temp)
  try {
    moveAll(moves)
  } catch (error) {
    undo(moves, error)
    removeQuietly(journal)
    for (const { temp } of moves) trackTemp(temp)
    throw error
  }
  finish(journal, moves)
}

function moveAll(moves: readonly Move[]): void {
  for (const { temp, target, aside } of moves) if (existsSync(temp) && existsSync(target)) rename(target, aside)
  for (const { temp, target } of mainLast(moves)) if (existsSync(temp)) rename(temp, target)
}

/** Throws `io/interrupted` if that fails too; then the journal and all files that it names are kept. */
function undo(moves: readonly Move[], reason: unknown): void {
  try {
    for (const { temp, target } of moves) if (!existsSync(temp) && existsSync(target)) rename(target, temp)
    for (const { target, aside } of mainLast(moves)) if (existsSync(aside)) rename(aside, target)
  } catch {
    const { target } = moves[0]!
    const { message: why } = ioError(reason, target).finding
    const message = `its files could neither be replaced (${why}) nor put back; the next run of tare that may write to ${dirname(target)} finishes it`
    failWith(ioCodes.interrupted, { file: target, message }, { cause: reason })
  }
}

function finish(journal: string, moves: readonly Move[]): void {
  for (const directory of new Set(moves.map(({ target }) => dirname(target)))) syncDirectory(directory)
  removeQuietly(journal)
  syncDirectory(dirname(journal))
  for (const { aside } of moves) removeQuietly(aside)
}

const mainLast = <T>([main, ...others]: readonly T[]): T[] => (main === undefined ? [] : [...others, main])

function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    throw ioError(error, to)
  }
}

/** The journal appears completely or not at all. */
function writeJournal(moves: readonly Move[]): string {
  const main = moves[0]!.target
  const path = setJournalFor(main)
  const home = dirname(path)
  const files = moves.map(({ temp, target, aside }) => ({
    temp: relative(home, temp),
    target: relative(home, target),
    aside: relative(home, aside),
  }))
  const journal: Journal = { journal: 'tare set 1', process: process.pid, machine: machineTag(), files }
  const draft = tempNameFor(path)
  trackTemp(draft)
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(file, JSON.stringify(journal))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    removeQuietly(draft)
    throw ioError(error, main)
  } finally {
    forgetTemp(draft)
  }
  syncDirectory(home)
  return path
}

/** Completes interrupted replacements of any set in a directory, whose file names the caller may already have. */
export function recoverSets(directory: string, names: readonly string[] = readdirSync(directory)): boolean {
  const journals = names.filter(isJournal)
  for (const name of journals) recover(join(directory, name))
  return journals.length > 0
}

/** Also removes leftovers of killed processes. Missing permission is not an error. */
export function tidyDirectory(directory: string): void {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch {
    return // permission to write a file does not include listing the directory
  }
  recoverSets(directory, names)
  for (const name of names) if (isLeftover(directory, name)) removeQuietly(join(directory, name))
}

/** Completes a journal. */
export function recover(path: string): void {
  const journal = parseJournal(path)
  const home = dirname(path)
  const moves = journal.files.map(({ temp, target, aside }) => ({
    temp: resolve(home, temp),
    target: resolve(home, target),
    aside: resolve(home, aside),
  }))
  const main = moves[0]!.target
  if (journal.machine === machineTag() && journal.process !== process.pid && isRunning(journal.process)) {
    const message = `process ${journal.process} is replacing its files right now; try again when it has ended`
    failWith(ioCodes.busy, { file: main, message })
  }
  const missing = moves.find(({ temp, target }) => !existsSync(temp) && !existsSync(target))
  if (missing) {
    const message = `${basename(missing.target)} is neither there nor waiting to be put there; write the model again, then remove ${path}`
    failWith(ioCodes.interrupted, { file: main, message })
  }
  try {
    moveAll(moves)
  } catch (error) {
    const message = `its files were being replaced when the work stopped, and it cannot be finished: ${ioError(error, main).finding.message}; run tare again where it may write to ${home}`
    failWith(ioCodes.interrupted, { file: main, message }, { cause: error })
  }
  finish(path, moves)
}

function parseJournal(path: string): Journal {
  try {
    const root = JSON.parse(readFileSync(path, 'utf8')) as Partial<Journal>
    const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
    const isMove = (each: Partial<Move> | null): boolean => [each?.temp, each?.target, each?.aside].every(isText)
    const isWhole =
      root.journal === 'tare set 1' &&
      typeof root.process === 'number' &&
      Array.isArray(root.files) &&
      root.files.length > 0 &&
      root.files.every(isMove)
    if (isWhole) return root as Journal
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw ioError(error, path)
  }
  return failWith(ioCodes.interrupted, { file: path, message: 'this is not what tare writes; remove it' })
}

/** A rename is durable only once its directory is flushed. Not every system supports this, and trying does no harm. */
export function syncDirectory(path: string): void {
  try {
    const directory = openSync(path, 'r')
    try {
      fsyncSync(directory)
    } finally {
      closeSync(directory)
    }
  } catch {
    // the bytes themselves are safe
  }
}
