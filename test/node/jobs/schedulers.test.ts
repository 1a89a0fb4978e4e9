// The examples for schedulers, run as they are where the scheduler is installed, and reported as skipped where not. The output has the SHA-256
// of the single run.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { useCompiled } from '../../cli/compiled.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'
import { hasSlurm, useSlurm } from './real-slurm.js'

const at = useTempDir()
const dist = useCompiled()
const examples = resolve(import.meta.dirname, '../../../examples/cluster')
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const model = sampleModel([1, 2, 3].map((i) => sampleTensor(`layer.${i}.weight`, 'f16', [512, 1024], i)))
const flags = ['--cast', 'f32', '--part-size', '1M']
beforeEach(async () => {
  writeFileSync(at('m.safetensors'), (await convertToFiles(model, 'safetensors', { name: 'm' })).get('m')!)
  await tare('convert', at('m.safetensors'), '-o', at('ref.gguf'), '--cast', 'f32', '-q')
  // The command as a program of its own, as a machine has it.
  writeFileSync(at('tare'), `#!/bin/sh\nexec '${process.execPath}' '${dist('cli', 'main.js')}' "$@"\n`)
  chmodSync(at('tare'), 0o755)
})

function run(script: string, env: Readonly<NodeJS.ProcessEnv> = {}): void {
  const ran = spawnSync(join(examples, script), [at('m.safetensors'), at('out.gguf'), ...flags], {
    cwd: at('.'),
    env: { ...process.env, TARE: at('tare'), WORKERS: '3', ...env },
    encoding: 'utf8',
  })
  expect([ran.status, ran.stderr], ran.stdout).toEqual([0, expect.anything()])
}

it.skipIf(!has('parallel'))(
  'GNU parallel gives the same bytes',
  () => {
    mkdirSync(at('home', '.parallel'), { recursive: true })
    writeFileSync(at('home', '.parallel', 'will-cite'), '')
    run('parallel.sh', { HOME: at('home') })
    expect(sha256(at('out.gguf'))).toBe(sha256(at('ref.gguf')))
  },
  60_000,
)

it('a job that was planned for a bare file name gives the same bytes as a run in that folder', () => {
  const here = (command: string): void => {
    const { status, stderr } = spawnSync('sh', ['-c', `./tare ${command} -q`], { cwd: at('.'), encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  }
  here('convert m.safetensors -o ref.mcf')
  here('plan m.safetensors out.mcf -o job.json')
  here('work job.json')
  here('finish job.json')
  expect(sha256(at('out.mcf'))).toBe(sha256(at('ref.mcf')))
}, 60_000)

/** A controller that runs tasks as Slurm does, one after another, for machines without it: it shows that the script is right. */
const fakeSbatch = `#!/bin/sh
for word; do case $word in
  --array=1-*) count=\${word#--array=1-} ;;
  --wrap=*) wrap=\${word#--wrap=} ;;
esac; done
if [ -n "\${count:-}" ]; then
  for id in $(seq "$count"); do
    SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=$count SLURM_ARRAY_TASK_COUNT=$count sh -c "$wrap" >&2 || exit 1
  done
else sh -c "$wrap" >&2; fi
echo 7
`

it('the script for Slurm gives the same bytes under a stand-in for sbatch', () => {
  mkdirSync(at('bin'))
  writeFileSync(at('bin', 'sbatch'), fakeSbatch)
  chmodSync(at('bin', 'sbatch'), 0o755)
  run('slurm.sh', { PATH: `${at('bin')}:${process.env.PATH}` })
  expect(sha256(at('out.gguf'))).toBe(sha256(at('ref.gguf')))
}, 60_000)

describe.skipIf(!hasSlurm)('a cluster with Slurm', () => {
  const slurm = useSlurm(at)

  it('gives the same bytes', async () => {
    run('slurm.sh', slurm.environment())
    await slurm.settled()
    expect(sha256(at('out.gguf'))).toBe(sha256(at('ref.gguf')))
  }, 240_000)

  // What Slurm does after a restart depends on its own timers.
  it('gives the same bytes when a worker and the controller are killed', { retry: 2, timeout: 240_000 }, async () => {
    const call = `'${process.execPath}' '${dist('cli', 'main.js')}' "$@"`
    const killed = `if [ "$1 $SLURM_ARRAY_TASK_ID" = 'work 2' ] && mkdir '${at('killed')}'; then ${call} & sleep 0.3; kill -9 $!; exit 137; fi`
    writeFileSync(at('tare'), `#!/bin/sh\n${killed}\n${call}\n`)
    run('slurm.sh', slurm.environment())
    await slurm.restartController()
    await slurm.settled()
    expect(existsSync(at('killed'))).toBe(true)
    expect(sha256(at('out.gguf'))).toBe(sha256(at('ref.gguf')))
  })
})

describe('the Job of Kubernetes', () => {
  it('says the same number of workers in both places, and its commands give the same bytes', async () => {
    const text = readFileSync(join(examples, 'kubernetes.yaml'), 'utf8')
    const [work, finish] = parseAllDocuments(text).map((document) => parse(String(document)))
    const { completions, completionMode, template } = work.spec
    const command: string[] = template.spec.containers[0].command
    expect([work.kind, completionMode, command.at(-1)]).toEqual(['Job', 'Indexed', String(completions)])
    await tare('plan', at('m.safetensors'), at('out.gguf'), ...flags, '-o', at('job.json'), '-q')
    const here = (words: string): string =>
      words.replaceAll('npx --yes tare', at('tare')).replaceAll('/models/', at('/'))
    for (let index = 0; index < completions; index++) {
      const env = { ...process.env, JOB_COMPLETION_INDEX: `${index}` }
      expect(spawnSync('sh', ['-c', here(command.join(' '))], { env }).status).toBe(0)
    }
    const last = finish.spec.template.spec.containers[0].command.at(-1)
    expect(spawnSync('sh', ['-c', here(last)]).status).toBe(0)
    expect(sha256(at('out.gguf'))).toBe(sha256(at('ref.gguf')))
  }, 60_000)
})
