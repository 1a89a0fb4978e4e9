// A cluster of one machine on loopback, with Slurm's own programs, where they are installed: munge, a controller and a node.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach } from 'vitest'
import { freePort } from '../queue/real-queue.js'

const path = `${process.env.PATH}:/usr/sbin`
const run = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(program, args, { env: { ...process.env, PATH: path, ...env }, encoding: 'utf8' })

const programs = ['munged', 'slurmctld', 'slurmd', 'sbatch', 'squeue', 'sinfo', 'scancel']

/** A node that runs jobs has to be root. */
export const hasSlurm =
  process.getuid?.() === 0 && programs.every((name) => run('sh', ['-c', `command -v ${name}`]).status === 0)

/** `at` is a folder for each test. */
export function useSlurm(at: (...names: string[]) => string) {
  const children = new Set<ChildProcess>()
  const environment = () => ({ PATH: path, SLURM_CONF: at('slurm', 'slurm.conf') })
  let controller: ChildProcess
  const start = (program: string, ...args: string[]): ChildProcess => {
    const child = spawn(program, args, { env: { ...process.env, ...environment() }, stdio: 'ignore' })
    children.add(child)
    return child
  }
  const startController = (): void => {
    controller = start('slurmctld', '-D')
  }
  /** Undefined where the controller does not answer. */
  const ask = (program: string, ...args: string[]): string | undefined => {
    const { status, stdout } = run(program, args, environment())
    return status === 0 ? stdout.trim() : undefined
  }
  const jobs = (): string | undefined => ask('squeue', '-h', '-o', '%i %T %r')
  /** Of a controller that does not answer. */
  const lastWords = (): string => readFileSync(at('slurm', 'slurmctld.log'), 'utf8').slice(-1000)
  const until = async (isSo: () => boolean, what: string | (() => string)): Promise<void> => {
    const end = Date.now() + 120_000
    while (!isSo()) {
      if (Date.now() > end) throw new Error(`${typeof what === 'string' ? what : what()} did not happen`)
      await setTimeout(200)
    }
  }
  beforeEach(async () => {
    if (!hasSlurm) return
    // Munge wants to be sure that others cannot change its folder, and can reach its socket.
    for (const folder of [at('slurm'), at('slurm', 'state'), at('slurm', 'spool')]) mkdirSync(folder, { mode: 0o755 })
    chmodSync(at('.'), 0o755)
    writeFileSync(at('slurm', 'munge.key'), randomBytes(1024), { mode: 0o600 })
    writeFileSync(at('slurm', 'slurm.conf'), configuration(at('slurm'), await freePort(), await freePort()))
    const files = { key: 'munge.key', socket: 'munge.sock', pid: 'munged.pid', log: 'munged.log', seed: 'munged.seed' }
    const places = Object.entries(files).map(
      ([name, file]) => `--${name}${name === 'socket' ? '' : '-file'}=${at('slurm', file)}`,
    )
    start('munged', '--foreground', ...places)
    startController()
    start('slurmd', '-D')
    await until(() => ask('sinfo', '-h', '-o', '%T') === 'idle', 'the start of Slurm')
  }, 90_000)
  afterEach(() => {
    if (children.size > 0) ask('scancel', '--signal=KILL', '--full', '--me')
    for (const child of children) child.kill('SIGKILL')
    children.clear()
  })
  return {
    environment,
    /** Waits until no job is left. */
    settled: () =>
      until(
        () => jobs() === '',
        () => `the end of all jobs (${jobs() ?? lastWords()})`,
      ),
    /** It saves its state now and then. */
    async restartController() {
      const state = at('slurm', 'state', 'job_state')
      const asked = Date.now()
      await until(() => existsSync(state) && statSync(state).mtimeMs > asked, 'saving the state')
      const ended = new Promise((resolve) => controller.once('exit', resolve))
      controller.kill('SIGKILL')
      await ended
      startController()
      await until(() => ask('sinfo', '-h', '-o', '%T') !== undefined, 'the restart of the controller')
    },
  }
}

const configuration = (folder: string, controllerPort: number, nodePort: number): string => `
ClusterName=test
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${controllerPort}
SlurmdPort=${nodePort}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=${folder}/munge.sock
SlurmUser=root
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2
NodeName=${hostname()} NodeAddr=127.0.0.1 CPUs=${availableParallelism()} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`
