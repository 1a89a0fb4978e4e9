import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { manifestForms, manifestLine, parseManifest } from '../../../src/cli/verbs/hash/manifest.js'
import { useTempDir } from '../../node/temp-dir.js'
import { runCli } from '../run-cli.js'

const at = useTempDir()
const sample = join(import.meta.dirname, '../../../examples/tiny-mlp.safetensors')
const digest = 'ab'.repeat(32)

describe('the forms of other tools', () => {
  it.each(manifestForms)('%s is read back', (form) => {
    const names = ['model.gguf', 'a b\\c.gguf', form === 'gguf-hash' ? 'x.gguf' : 'new\nline.gguf']
    const lines = names.map((file) => manifestLine(form, { digest, file }))
    const read = parseManifest(lines.join('\n'), form === 'b3sum' ? 'sums.b3' : 'SUMS')
    expect(read).toMatchObject({ form, lines: names.map((file) => ({ digest, file })) })
  })

  it('BSD lines, binary marks and tensors are understood', () => {
    expect(parseManifest(`SHA256 (a) = ${digest}`, 'x')?.lines[0]).toEqual({ algorithm: 'sha256', file: 'a', digest })
    expect(parseManifest(`${digest} *a`, 'x')?.lines[0]).toMatchObject({ file: 'a' })
    const mixed = `xxh64     f66e9cd66a4396a0  m.gguf:w\nsha256    ${digest}  m.gguf:w\nsha256    ${digest}  m.gguf`
    expect(parseManifest(mixed, 'x')?.lines).toEqual([
      { algorithm: 'sha256', digest, file: 'm.gguf', tensor: 'w' },
      { algorithm: 'sha256', digest, file: 'm.gguf' },
    ])
    expect(parseManifest(`# made by hand\n\\SHA256 (a\\\\b) = ${digest}`, 'x')?.lines).toEqual([
      { algorithm: 'sha256', file: 'a\\b', digest },
    ])
    expect(parseManifest('hello\n', 'x')).toBeUndefined()
    expect(parseManifest(`hello\n${digest}  a`, 'x')).toBeUndefined()
    expect(parseManifest('# nothing\n', 'x')).toBeUndefined()
    expect(parseManifest('', 'x')).toBeUndefined()
  })
})

describe('tare hash', () => {
  const hasTool = spawnSync('sha256sum', ['--version']).status === 0

  it.skipIf(!hasTool)('writes and checks the lists of sha256sum', async () => {
    mkdirSync(at('dir/sub'), { recursive: true })
    copyFileSync(sample, at('dir/a.safetensors'))
    writeFileSync(at('dir/sub/b.txt'), 'text')
    const { stdout } = await runCli('hash', '--manifest', 'sha256sum', at('dir'))
    writeFileSync(at('SUMS'), stdout)
    expect(execFileSync('sha256sum', [at('dir/a.safetensors'), at('dir/sub/b.txt')], { encoding: 'utf8' })).toBe(stdout)
    expect(await runCli('hash', '--check', at('SUMS'))).toMatchObject({ status: 0 })
    appendFileSync(at('dir/sub/b.txt'), '!')
    expect((await runCli('hash', '--check', at('SUMS'))).stdout).toMatch(/^changed .*b\.txt\n.*1 of 2 differ/)
    rmSync(at('dir/sub/b.txt'))
    expect(await runCli('hash', '--check', at('SUMS'))).toMatchObject({ status: 1 })
    expect(await runCli('hash', '--check', at('SUMS'), at('dir/a.safetensors'))).toMatchObject({ status: 0 })
    expect(await runCli('hash', '--check', at('SUMS'), sample)).toMatchObject({ status: 2 })
  })

  it('a list of BLAKE3 digests is known by the files, whatever it is called', async () => {
    copyFileSync(sample, at('a.safetensors'))
    copyFileSync(sample, at('b.safetensors'))
    const { stdout } = await runCli('hash', '--manifest', 'b3sum', at('a.safetensors'), at('b.safetensors'))
    writeFileSync(at('LIST'), stdout)
    expect(await runCli('hash', '--check', at('LIST'))).toMatchObject({ status: 0 })
    appendFileSync(at('a.safetensors'), '!')
    const changed = await runCli('hash', '--check', at('LIST'), '--json')
    expect(changed.status).toBe(1)
    expect(JSON.parse(changed.stdout)).toMatchObject({
      form: 'b3sum',
      checked: [
        { what: 'changed', algorithm: 'blake3' },
        { what: 'same', algorithm: 'blake3' },
      ],
    })
    expect((await runCli('hash', '--check', at('LIST'), '--algorithm', 'sha256')).stdout).toMatch(/2 of 2 differ/)
  })

  it('reads only what was touched after the list was written', async () => {
    copyFileSync(sample, at('a.safetensors'))
    copyFileSync(sample, at('b.safetensors'))
    const { stdout } = await runCli('hash', '--manifest', 'b3sum', at('a.safetensors'), at('b.safetensors'))
    writeFileSync(at('sums.b3'), stdout)
    const later = Date.now() / 1000 + 60
    utimesSync(at('sums.b3'), later, later)
    expect((await runCli('hash', '--check', at('sums.b3'), '--changed')).stdout).toContain('2 not read')
    utimesSync(at('a.safetensors'), later + 60, later + 60)
    const { stdout: json } = await runCli('hash', '--json', '--check', at('sums.b3'), '--changed')
    expect(JSON.parse(json)).toMatchObject({ same: true, checked: [{ what: 'same' }, { what: 'unread' }] })
  })

  it('writes and checks the lists of gguf-hash', async () => {
    await runCli('convert', sample, '-o', at('m.gguf'))
    const { stdout } = await runCli('hash', '--manifest', 'gguf-hash', at('m.gguf'))
    expect(
      stdout.split('\n').filter((line) => /^sha256 {4}[0-9a-f]{64} {2}\S+m\.gguf:\S+$/.test(line)).length,
    ).toBeGreaterThan(1)
    writeFileSync(at('m.manifest'), stdout)
    expect(await runCli('hash', '--check', at('m.manifest'), at('m.gguf'))).toMatchObject({ status: 0 })
    await runCli('quantize', at('m.gguf'), '-o', at('q.gguf'), '--method', 'q8_0')
    copyFileSync(at('q.gguf'), at('m.gguf'))
    expect(await runCli('hash', '--check', at('m.manifest'), at('m.gguf'))).toMatchObject({ status: 1 })
    expect(await runCli('hash', '--manifest', 'gguf-hash', sample)).toMatchObject({ status: 0 })
  })
})
