// A command that is really killed between two renames of a set: the next command finds the old model or the new one, whole.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { useCompiled } from './compiled.js'

const at = useTempDir()
const compiled = useCompiled()
const killer = `const fs = require('node:fs')
const { renameSync } = fs
let calls = 0
fs.renameSync = (from, to) => {
  if (++calls === Number(process.env.KILL_AT)) process.kill(process.pid, 'SIGKILL')
  renameSync(from, to)
}
require('node:module').syncBuiltinESMExports()`

const tare = (
  args: readonly string[],
  killAt?: number,
): { status: number | null; signal: string | null; stdout: string } =>
  spawnSync(
    process.execPath,
    [...(killAt === undefined ? [] : ['-r', at('kill.cjs')]), compiled('cli/main.js'), ...args],
    { encoding: 'utf8', env: { ...process.env, KILL_AT: String(killAt) } },
  )

const write = async (file: string, seed: number): Promise<string> => {
  const tensors = ['a', 'b', 'c'].map((name, i) => sampleTensor(name, 'f32', [16], seed + i))
  const [bytes] = (await convertToFiles(sampleModel(tensors), 'safetensors')).values()
  writeFileSync(at(file), bytes!)
  return tare(['hash', at(file)])
    .stdout.trim()
    .split('\n')
    .at(-1)!
}

test.skipIf(process.platform === 'win32')(
  'a set is the old one or the new one after SIGKILL at any rename',
  async () => {
    writeFileSync(at('kill.cjs'), killer)
    const prints = { old: await write('old.safetensors', 1), new: await write('new.safetensors', 50) }
    const set = (name: string): string[] => ['-o', `${at('set')}/${name}`, '--shard-size', '64', '-q']
    const seen: string[] = []
    mkdirSync(at('set'))
    for (let killAt = 1, killed = true; killed; killAt++) {
      rmSync(at('set'), { recursive: true })
      mkdirSync(at('set'))
      expect(tare(['convert', at('old.safetensors'), ...set('m.safetensors')]).status).toBe(0)
      killed = tare(['convert', at('new.safetensors'), ...set('m.safetensors')], killAt).signal === 'SIGKILL'
      cpSync(at('set'), at('copy'), { recursive: true })
      symlinkSync(at('copy'), at('link'))
      // By its index, through a link, and as a directory.
      for (const input of [`${at('set')}/m.safetensors.index.json`, `${at('link')}/m.safetensors.index.json`]) {
        const { status, stdout } = tare(['hash', input])
        expect(status, `killed at rename ${killAt}: ${input}`).toBe(0)
        const found = Object.entries(prints).find(([, print]) => stdout.trim().endsWith(print))?.[0]
        expect(found, `killed at rename ${killAt}: ${stdout}`).toBeDefined()
        seen.push(found!)
      }
      expect(tare(['verify', at('set')]).status).toBe(0)
      rmSync(at('copy'), { recursive: true })
      rmSync(at('link'))
      // The next run that writes there leaves nothing of the killed one.
      expect(tare(['convert', at('new.safetensors'), ...set('m.safetensors')]).status).toBe(0)
      expect(readdirSync(at('set')).filter((name) => name.startsWith('.'))).toEqual([])
    }
    expect(new Set(seen)).toEqual(new Set(['old', 'new']))
  },
  300_000,
)
