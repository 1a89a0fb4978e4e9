// A directory of the hub into EMBD files: what they are called, what the profile says about them, and what the stream layout leaves behind.
import { cpSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MemorySource, verifySource } from '../../../src/kit.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { hubModel, writeHubDirectory } from '../../support/hub-directory.js'

const at = useTempDir()

async function inspect(file: string) {
  const { metadata, tensors } = JSON.parse((await tare('inspect', '--json', file)).stdout) as {
    metadata: Record<string, { value: string }>
    tensors: { name: string }[]
  }
  return { metadata, names: tensors.map(({ name }) => name) }
}

describe('a sectioned file', () => {
  it('is called after the directory, and takes the heads from config.json', async () => {
    const hub = await writeHubDirectory(at('tiny-encoder-v2'))
    for (const input of [hub, `${hub}/model.safetensors`]) {
      expect((await tare('convert', input, '-o', at('m.weights'))).status).toBe(0)
      const { metadata } = await inspect(at('m.weights'))
      expect(metadata).toMatchObject({ model_name: { value: 'tiny-encoder-v2' }, num_attention_heads: { value: '4' } })
    }
    expect((await tare('verify', '--strict', at('m.weights'))).status).toBe(0)
  })

  it('is called as config.json says where the directory has the name of a revision', async () => {
    const hub = await writeHubDirectory(at('0123456789abcdef0123456789abcdef01234567'))
    expect((await tare('convert', hub, '-o', at('m.weights'))).status).toBe(0)
    expect((await inspect(at('m.weights'))).metadata.model_name).toMatchObject({ value: 'tiny-encoder' })
  })

  it('is called after the file where that has a name of its own', async () => {
    const hub = await writeHubDirectory(at('hub'))
    cpSync(`${hub}/model.safetensors`, at('mine.safetensors'))
    expect((await tare('convert', at('mine.safetensors'), '-o', at('m.weights'))).status).toBe(0)
    expect((await inspect(at('m.weights'))).metadata.model_name).toMatchObject({ value: 'mine' })
  })

  it('comes home with the files of the directory that it was made of', async () => {
    const hub = await writeHubDirectory(at('hub'))
    expect((await tare('convert', hub, '-o', at('m.weights'))).status).toBe(0)
    expect((await tare('convert', at('m.weights'), '-o', `${at('back')}/`)).status).toBe(0)
    expect((await inspect(at('back'))).metadata).not.toHaveProperty('model_name')
    for (const name of ['config.json', 'tokenizer.json', 'vocab.txt'])
      expect(readFileSync(at('back', name), 'hex'), name).toBe(readFileSync(at('hub', name), 'hex'))
  })
})

describe('the profile', () => {
  const size = { hidden: 384, intermediate: 1536, layers: 6, vocab: 30522, positions: 512 }
  const profile = 'all-MiniLM-L6-v2'

  it.each(['', 'bert.'])(
    'takes weights with the prefix "%s", as they are published and from EMBD',
    async (prefix) => {
      const model = hubModel({ prefix, size })
      for (const target of ['safetensors', 'embd']) {
        const [bytes] = [...(await convertToFiles(model, target)).values()]
        const { findings } = await verifySource(new MemorySource(bytes!, 'm'), { profile, quick: true })
        expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([])
        const note = findings.find(({ code }) => code === 'profile/metadata-unchecked')
        expect(note !== undefined).toBe(target === 'safetensors')
      }
    },
    60_000,
  )
})

describe('a stream file', () => {
  const convert = (...args: string[]) => tare('convert', '--layout', 'stream', ...args)

  it('is made of an ordinary directory, and the plan names what stays behind', async () => {
    const hub = await writeHubDirectory(at('hub'))
    const { status, stderr } = await convert(hub, '-o', at('m.weights'))
    expect(status, stderr).toBe(0)
    expect((await tare('verify', at('m.weights'))).status).toBe(0)
    expect((await inspect(at('m.weights'))).names).not.toContain('embeddings.position_ids')
    const { actions, loss } = JSON.parse((await convert(hub, '-o', at('n.weights'), '--dry-run', '--json')).stdout)
    const dropped = actions.filter(({ action }: { action: string }) => action === 'drop')
    expect(loss).toBe('form')
    expect(dropped.map(({ subject, name, loss: each }: Record<string, string>) => [subject, name, each])).toEqual([
      ['tensor', 'embeddings.position_ids', 'form'],
      ['metadata', 'format', 'form'],
      ['part', 'config.json', 'form'],
      ['part', 'tokenizer.json', 'form'],
    ])
  })

  it.each([
    ['positions in another order', { positions: [1, 0, 2, 3] }, 'position_ids'],
    ['an entry of its own', { metadata: { format: 'pt', licence: 'MIT' } }, 'licence'],
    ['a format that is no framework', { metadata: { format: 'of mine' } }, 'format'],
  ])('is refused where content would be lost: %s', async (_, options, name) => {
    const hub = await writeHubDirectory(at('hub'), options)
    const { status, stderr } = await convert(hub, '-o', at('m.weights'))
    expect(status).not.toBe(0)
    expect(stderr).toContain(name)
    expect((await convert(hub, '-o', at('m.weights'), '--allow-loss')).status).toBe(0)
  })

  it('is refused where files are inside the source, and not beside it', async () => {
    const hub = await writeHubDirectory(at('hub'))
    expect((await tare('convert', hub, '-o', at('m.mcf'))).status).toBe(0)
    const { status, stderr } = await convert(at('m.mcf'), '-o', at('m.weights'))
    expect(status).not.toBe(0)
    expect(stderr).toContain('config.json')
  })
})
