#!/usr/bin/env node
// Tries tare on every file of a folder, to find out what a large collection breaks:
//
//   node scripts/campaign.mjs FOLDER [--to gguf,safetensors] [--slow SECONDS] [--timeout SECONDS] [--max-size MB] [--json FILE]
//
// Each file that some format recognises is inspected, verified, hashed, measured, written in its own format and in others, brought back and
// compared. That happens in a process of its own, which is replaced when it crashes or takes too long. Reported are crashes, files on which
// opening and verifying disagree, outputs that do not verify, round trips that differ although no plan names a loss, and slow files.
import { fork } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    to: { type: 'string', default: 'safetensors,gguf,npz' },
    slow: { type: 'string', default: '10' },
    timeout: { type: 'string', default: '120' },
    'max-size': { type: 'string', default: '512' },
    json: { type: 'string' },
    child: { type: 'boolean' },
  },
})

if (values.child) await serve()
else await campaign()

async function campaign() {
  const [folder] = positionals
  if (folder === undefined) {
    console.error(
      'usage: node scripts/campaign.mjs FOLDER [--to IDS] [--slow S] [--timeout S] [--max-size MB] [--json FILE]',
    )
    process.exit(2)
  }
  const maxSize = Number(values['max-size']) * 2 ** 20
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).size <= maxSize)
    .sort()
  const results = []
  const counts = new Map()
  let child = startChild()
  for (const [i, file] of files.entries()) {
    const result = await child.run(file)
    if (result.isOver) child = startChild()
    results.push(result)
    counts.set(result.format ?? 'none', (counts.get(result.format ?? 'none') ?? 0) + 1)
    for (const problem of result.problems) console.log(`${file}: ${problem}`)
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${i + 1} of ${files.length}  ${file.slice(-60)}`)
  }
  child.end()
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K')
  if (values.json) writeFileSync(values.json, results.map((result) => `${JSON.stringify(result)}\n`).join(''))
  const bad = results.filter(({ problems }) => problems.length > 0).length
  console.log([...counts].map(([format, count]) => `${format} ${count}`).join(', '))
  console.log(`${files.length} files, ${bad} with problems`)
  process.exitCode = bad > 0 ? 1 : 0
}

/** A process that works on one file after another. */
function startChild() {
  const args = ['--child', '--to', values.to, '--slow', values.slow]
  const child = fork(fileURLToPath(import.meta.url), args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors = `${errors}${text}`.slice(-2000)
  })
  const run = (file) =>
    new Promise((resolve) => {
      const end = (result) => {
        clearTimeout(timer)
        child.removeAllListeners()
        resolve(result)
      }
      const lost = (problem) => end({ file, problems: [problem], isOver: true })
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        lost(`not done after ${values.timeout} s`)
      }, Number(values.timeout) * 1000)
      child.once('message', end)
      child.once('exit', (status, signal) => lost(`the process ended with ${signal ?? status}: ${errors.trim()}`))
      child.send(file)
    })
  return { run, end: () => child.disconnect() }
}

async function serve() {
  const tare = await import('../dist/kit-node.js')
  const directory = mkdtempSync(join(tmpdir(), 'tare-campaign-'))
  process.once('disconnect', () => {
    rmSync(directory, { recursive: true, force: true })
    process.exit(0)
  })
  process.on('message', async (file) => {
    const started = performance.now()
    const result = await examine(tare, file, directory)
    const seconds = (performance.now() - started) / 1000
    if (seconds > Number(values.slow)) result.problems.push(`slow: ${seconds.toFixed(1)} s`)
    process.send({ ...result, seconds })
  })
}

async function examine(tare, file, directory) {
  const problems = []
  const attempt = async (what, work) => {
    try {
      return await work()
    } catch (error) {
      // An error of our own is an answer; anything else is a mistake.
      if (!(error instanceof tare.TareError)) problems.push(`${what}: ${error.stack ?? error}`)
      return undefined
    }
  }
  const open = async (path, from) => tare.openModel(await tare.openInput(path), { from })
  const errorsOf = ({ findings }) => findings.filter(({ severity }) => severity === 'error')
  const verified = await attempt('verify', async () => tare.verifySource(await tare.openInput(file)))
  const format = verified?.format
  if (!format) return { file, format, problems }
  for (const { message } of errorsOf(verified).filter(({ code }) => code === 'verify/internal')) problems.push(message)
  const model = await attempt('open', () => open(file))
  if (!model) {
    if (errorsOf(verified).length === 0) problems.push('it does not open, but verify finds no error')
    return { file, format, problems }
  }
  await attempt('inspect', () => tare.inspectModel(model))
  const isDamaged = ((await attempt('damage', () => tare.findDamage(model))) ?? []).length > 0
  if (!isDamaged && errorsOf(verified).length > 0)
    problems.push(`it opens, but verify says ${errorsOf(verified)[0].code}`)
  await attempt('hash', () => tare.hashModel(model))
  await attempt('stats', async () => {
    for await (const _ of tare.statsOfTensors(model.tensors, {}));
  })
  for (const target of new Set([format, ...values.to.split(',')])) {
    await attempt(`to ${target}`, () => roundTrip(tare, model, target, directory, problems, open))
  }
  await tare.closeModel(model)
  return { file, format, problems }
}

/** There and, where the source's format can be written, back again. */
async function roundTrip(tare, model, target, directory, problems, open) {
  const write = async (from, to, stem) => {
    const name = `${stem}${tare.formatById(to).extensions[0]}`
    const conversion = await tare.planConversion(from, to, { name, deterministic: true })
    const openSink = (each) => tare.openOutput(join(directory, each))
    const [main] = await tare.runConversion(conversion, openSink, { allowLoss: 'content' })
    return { path: join(directory, main.name), loss: conversion.plan.loss }
  }
  const there = await write(model, target, 'there')
  const { findings } = await tare.verifySource(await tare.openInput(there.path), { from: target })
  const wrong = findings.find(({ severity }) => severity === 'error')
  if (wrong) problems.push(`to ${target}: the output does not verify: ${wrong.code} ${wrong.message}`)
  const away = await open(there.path, target)
  const { equal } = await tare.diffModels(model, away, { measure: false })
  if (there.loss === 'none' && !equal) problems.push(`to ${target}: no loss, but different`)
  if (tare.formatById(model.format).capabilities.write && target !== model.format) {
    const back = await write(away, model.format, 'back')
    const home = await open(back.path, model.format)
    const isSame = (await tare.diffModels(model, home, { measure: false })).equal
    if (there.loss === 'none' && back.loss === 'none' && !isSame)
      problems.push(`to ${target} and back: no loss, but different`)
    await tare.closeModel(home)
  }
  await tare.closeModel(away)
}
