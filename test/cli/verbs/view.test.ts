// The verb through the real command; what its server answers is tested in test/node/view.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import schema from '../../../docs/schema/view.schema.json' with { type: 'json' }
import { runCli } from '../run-cli.js'

const root = resolve(import.meta.dirname, '../../..')
const sample = join(root, 'examples/tiny-mlp.safetensors')
const isBuilt = existsSync(join(root, 'dist/viewer/index.html'))

describe('view', () => {
  it.skipIf(!isBuilt)('prints where the page is, and ends with the signal of a terminal', async () => {
    const args = [join(root, 'dist/bundle/main.js'), 'view', '--no-open', '--json', sample]
    const child = spawn(process.execPath, args, { env: { ...process.env, SSH_CONNECTION: '192.0.2.1 5 192.0.2.2 22' } })
    let remarks = ''
    child.stderr.on('data', (part) => {
      remarks += part
    })
    const line = await new Promise<string>((found) => createInterface(child.stdout).once('line', found))
    const said = JSON.parse(line)
    const validate = new Ajv2020({ strict: false }).compile(schema)
    expect(validate(said) || validate.errors).toBe(true)
    expect(said.files.map(({ name }: { name: string }) => name)).toEqual(['tiny-mlp.safetensors'])
    expect((await fetch(said.address)).status).toBe(200)
    const ended = new Promise((done) => child.once('exit', (code, signal) => done(code ?? signal)))
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(remarks).toContain(`ssh -L ${said.port}:127.0.0.1:${said.port} `)
    await expect(fetch(said.address)).rejects.toThrow()
  })

  it.skipIf(!isBuilt)('an input that is not there is an error, and nothing is served', async () => {
    const { status, stdout, stderr } = await runCli('view', '--no-open', join(root, 'nothing.gguf'))
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain('io/not-found')
  })

  it('refuses a port that does not exist', async () => {
    const { status, stderr } = await runCli('view', '--port', '70000', sample)
    expect(status).toBe(2)
    expect(stderr).toContain('0 to 65535')
  })
})
