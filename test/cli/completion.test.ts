import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { verbs } from '../../src/cli/verbs/index.js'
import { useTempDir } from '../node/temp-dir.js'
import { useCompiled } from './compiled.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const sample = new URL('../../examples/tiny-mlp.safetensors', import.meta.url).pathname
const complete = async (...words: string[]): Promise<string[]> =>
  (await tare('complete', '--', ...words)).stdout.split('\n').filter((line) => line !== '')

describe('complete', () => {
  test.each<[string[], string[]]>([
    [['conv'], ['convert']],
    [['convert', '--cas'], ['--cast']],
    [
      ['convert', '--no-st'],
      ['--no-stats', '--no-stow'],
    ],
    [['convert', '--to', 'g'], ['gguf']],
    [['convert', '--to=gg'], ['--to=gguf']],
    [['convert', '--to', 'dc'], []],
    [['convert', '--from', 'dc'], ['dcp']],
    [['convert', '--allow-loss', 'p'], ['precision']],
    [['convert', '--cast', 'bf'], ['bf16']],
    [
      ['quantize', '--method', 'q4_'],
      ['q4_0', 'q4_1', 'q4_k', 'q4_k_m', 'q4_k_s'],
    ],
    [['hash', '--algorithm', 's'], ['sha256']],
    [
      ['extract', sample, 'layers.0'],
      ['layers.0.weight', 'layers.0.bias'],
    ],
    [['picture', sample, 'layers.1.w'], ['layers.1.weight']],
    [['stats', sample, '--tensors', 'layers.1.w'], ['layers.1.weight']],
    [['completion', 'z'], ['zsh']],
    [['help', 'insp'], ['inspect']],
    [['extract', 'nosuch', 'x'], []],
    [['nosuch', ''], []],
    [['inspect', ''], []],
  ])('%j', async (words, expected) => {
    expect(await complete(...words)).toEqual(expected)
  })

  test('says what verbs and flags do', async () => {
    const { stdout } = await tare('complete', '--describe', '--', 'verify', '--qui')
    expect(stdout).toMatch(/^--quick\t\S.*\n--quiet\t\S.*\n$/)
    expect((await tare('complete', '--describe', '--', 'conv')).stdout).toMatch(/^convert\t\S/)
  })

  test('knows every verb', async () => {
    expect(await complete('')).toEqual(expect.arrayContaining(verbs.map(({ name }) => name)))
  })
})

test('completion wants a shell that it knows', async () => {
  expect((await tare('completion', 'tcsh')).status).toBe(2)
  expect((await tare('completion')).status).toBe(2)
})

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0

describe('in the shells', () => {
  const compiled = useCompiled()
  const run = async (shell: string, code: string): Promise<string[]> => {
    const { stdout: script } = await tare('completion', shell)
    const command = `${process.execPath} ${compiled('cli/main.js')}`
    const alias = shell === 'fish' ? `function tare; ${command} $argv; end` : `tare() { ${command} "$@"; }`
    const stubs =
      shell === 'zsh'
        ? 'compdef() { :; }; _files() { :; }; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@"; }'
        : ''
    const { stdout, stderr } = spawnSync(shell, ['-c', `${alias}\n${stubs}\n${script}\n${code}`], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.split('\n').filter((line) => line !== '')
  }

  test.skipIf(!has('bash'))('bash', async () => {
    // As bash takes a line apart: at spaces, and before and after colons and equals signs.
    const code = (line: string): string => {
      const words = line.split(/\s+|(?=[:=])|(?<=[:=])/)
      const quoted = words.map((word) => `'${word}'`).join(' ')
      return `COMP_LINE='${line}'; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _tare; printf '%s\\n' "\${COMPREPLY[@]}"`
    }
    expect(await run('bash', code('tare conv'))).toEqual(['convert'])
    expect(await run('bash', code(`tare extract ${sample} layers.0`))).toEqual(['layers.0.weight', 'layers.0.bias'])
    expect(await run('bash', code('tare convert --to=gg'))).toEqual(['gguf'])
    expect(await run('bash', code('tare convert --allow-loss='))).toEqual(['none', 'precision', 'all'])
    const colons = ['--rename', 's/layers.0./a:b:/', '--rename', 's/layers.1./a:c:/']
    await tare('convert', sample, '-o', at('colons.safetensors'), ...colons)
    const extract = `tare extract ${at('colons.safetensors')}`
    expect(await run('bash', code(`${extract} a:b:w`))).toEqual(['weight'])
    expect(await run('bash', code(`${extract} a:c:`))).toEqual(['bias', 'weight'])
    expect(await run('bash', code(`${extract} a`))).toEqual(['a:b:bias', 'a:b:weight', 'a:c:bias', 'a:c:weight'])
    expect(await run('bash', `${code('tare inspect x')}; complete -p tare`)).toEqual([
      'complete -o default -F _tare tare',
    ])
  })

  test.skipIf(!has('zsh'))('zsh', async () => {
    const code = (...words: string[]): string => `words=(tare ${words.join(' ')}); CURRENT=${words.length + 1}; _tare`
    expect(await run('zsh', code('conv'))).toEqual(['convert'])
    expect(await run('zsh', code('convert', '--to', 'gg'))).toEqual(['gguf'])
  })

  test.skipIf(!has('fish'))('fish', async () => {
    expect(await run('fish', "complete -C 'tare conv'")).toEqual([expect.stringMatching(/^convert\t\S/)])
    expect(await run('fish', "complete -C 'tare convert --to np'")).toEqual(['npy', 'npz'])
    expect(await run('fish', `complete -C 'tare extract ${sample} layers.1.b'`)).toContain('layers.1.bias')
  })
})
