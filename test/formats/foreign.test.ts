// Files of other kinds are called what they are, by their bytes and whatever their names say.
import { mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { diffModels, formats, MemorySource, openModel, verifySource } from '../../src/kit.js'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixtureBytes, isAccepted, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { craftZip } from '../wire/zip/build.js'

type Piece = string | number | readonly number[] | Uint8Array

/** Texts, bytes, and whatever else, one behind the other, filled up to a length that every sign fits in. */
function bytesOf(...pieces: readonly Piece[]): Uint8Array {
  const parts = pieces.map((each) =>
    typeof each === 'string' ? Buffer.from(each, 'latin1') : Buffer.from(typeof each === 'number' ? [each] : [...each]),
  )
  return new Uint8Array(Buffer.concat([...parts, Buffer.alloc(600)]))
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)

/** A protobuf field with bytes. */
function field(number: number, ...content: readonly Piece[]): number[] {
  const inner = [...bytesOf(...content)].slice(0, -600)
  return [...varint(number * 8 + 2), ...varint(inner.length), ...inner]
}
const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(value >>> 7)])

const cases: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['ONNX Runtime', bytesOf(24, 0, 0, 0, 'ORTM')],
  ['ExecuTorch program', bytesOf(48, 0, 0, 0, 'ET12eh00')],
  ['ExecuTorch data', bytesOf(48, 0, 0, 0, 'FT01')],
  ['an HDF5 file', bytesOf(zeros(512), '\x89HDF\r\n\x1a\n')],
  ['Core ML model', bytesOf(8, 4, field(2, field(1, field(1, 'image'))), field(500, field(1, 'x')))],
  ['Core ML package', bytesOf('{"fileFormatVersion": "1.0.0", "itemInfoEntries": {}}')],
  ['a Caffe model', bytesOf(field(1, 'net'), field(100, field(1, 'conv1'), field(2, 'Convolution')))],
  ['Caffe network', bytesOf('name: "LeNet"\nlayer {\n  name: "data"\n}')],
  ['PaddlePaddle program', bytesOf(field(1, 8, 0, 0x10, zeros(9).fill(255), 1, field(3, 'x')))],
  ['PaddlePaddle parameters', bytesOf(zeros(16), 8, 0, 0, 0, 8, 5, 0x10, 3, 0x10, 4, 0x10, 5)],
  ['RKNN', bytesOf('RKNN', zeros(4))],
  ['OpenVINO', bytesOf('<?xml version="1.0"?>\n<net name="m" version="11">')],
  ['ncnn', bytesOf('7767517\n75 83\nInput data 0 1 data')],
  ['ncnn', bytesOf(0xdd, 0x85, 0x76, 0, 75, 0, 0, 0)],
  ['TensorRT', bytesOf('ptrt', zeros(20))],
  ['TensorFlow SavedModel', bytesOf(8, 1, field(2, field(1, field(4, 'serve'), field(5, '2.15.0'))))],
  ['TensorFlow graph', bytesOf(field(1, field(1, 'input'), field(2, 'Placeholder')))],
  ['TensorFlow checkpoint', bytesOf(0, 0, 6, 8, 1, field(3, 8, 1), 0, 5, 7, 'a/b')],
  ['TensorFlow checkpoint', bytesOf('model_checkpoint_path: "model.ckpt-1"\n')],
  ['TensorFlow.js', bytesOf('{"modelTopology": {}, "weightsManifest": []}')],
  ['MXNet', bytesOf(0x12, 1, zeros(14))],
  ['fastText', bytesOf(0xba, 0x16, 0x4f, 0x2f, 12)],
  ['SentencePiece', bytesOf(field(1, field(1, '<unk>'), 0x15, 0, 0, 0, 0, 0x18, 2))],
  ['gzip', new Uint8Array(gzipSync('x'))],
  ['7-Zip', bytesOf('7z\xbc\xaf\x27\x1c')],
  ['xz', bytesOf('\xfd7zXZ\0')],
  ['Zstandard', bytesOf(0x28, 0xb5, 0x2f, 0xfd)],
  ['bzip2', bytesOf('BZh91AY&SY')],
  ['LZ4', bytesOf(4, 0x22, 0x4d, 0x18)],
  ['RAR', bytesOf('Rar!\x1a\x07')],
  ['ELF', bytesOf('\x7fELF')],
  ['WebAssembly', bytesOf('\0asm')],
  ['PDF', bytesOf('%PDF-1.7')],
  ['PNG', bytesOf('\x89PNG\r\n\x1a\n')],
  ['JPEG', bytesOf('\xff\xd8\xff\xe0')],
  ['GIF', bytesOf('GIF89a')],
  ['SQLite', bytesOf('SQLite format 3\0')],
  ['Parquet', bytesOf('PAR1')],
  ['Arrow', bytesOf('ARROW1')],
]

const named = formats.flatMap(({ extensions }) => extensions.map((extension) => `m${extension}`))

describe('files of other kinds', () => {
  it.each(cases)('%s', async (what, bytes) => {
    for (const name of ['m', 'm.weights', ...named]) {
      const { findings } = await verifySource(new MemorySource(bytes, name))
      const [found] = findings
      expect([found!.code, found!.message], name).toEqual(['open/foreign-format', expect.stringContaining(what)])
      expect(found!.message).toMatch(/^this is (an?|the) .*; tare does not read it/)
      await expect(openModel(new MemorySource(bytes, name))).rejects.toMatchObject({ code: 'open/foreign-format' })
    }
  })

  it.each<[string, string, Uint8Array]>([
    ['an MNN model', 'm.mnn', bytesOf(28, 0, 0, 0, 1)],
    ['Darknet', 'yolov3.weights', bytesOf(0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xd0, 0xe8, 1)],
    ['a zip archive', 'm.zip', craftZip([{ name: 'readme.txt', content: bytesOf('x') }])],
    ['TorchServe', 'm.mar', craftZip([{ name: 'MAR-INF/MANIFEST.json', content: bytesOf('{}') }])],
    ['a tar archive', 'm', bytesOf(zeros(257), 'ustar')],
  ])('%s, where the name agrees or nobody else looks into it', async (what, name, bytes) => {
    const { findings } = await verifySource(new MemorySource(bytes, name))
    expect(findings[0]).toMatchObject({ code: 'open/foreign-format', message: expect.stringContaining(what) })
  })

  it('are status 1 for the command, and so are directories of them', async () => {
    writeFileSync(at('m.ort'), bytesOf(24, 0, 0, 0, 'ORTM'))
    const { status, stderr } = await tare('inspect', at('m.ort'))
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('this is an ONNX Runtime (ORT) model; tare does not read it'),
    ])
    expect((await tare('verify', at('m.ort'))).status).toBe(1)
    for (const [name, what] of Object.entries({ 'saved_model.pb': 'SavedModel', 'Manifest.json': 'Core ML' })) {
      mkdirSync(at(what))
      writeFileSync(at(what, name), 'x')
      expect((await tare('inspect', at(what))).stderr).toContain(`${what}`)
    }
  })
})

const at = useTempDir()

describe('names', () => {
  it.each(formats.map(({ id }) => id).filter((id) => presentCases(id).some(isAccepted)))(
    'never decide against the bytes of %s',
    async (id) => {
      const files = presentCases(id).filter((each) => isAccepted(each) && !each.file.includes('/'))
      for (const { file, format = id } of files.slice(0, 12)) {
        const bytes = fixtureBytes(id, file)
        const own = (await openModel(new MemorySource(bytes, file)).catch(() => undefined))?.format
        // Of some files the bytes say too little by themselves.
        const alone = (await openModel(new MemorySource(bytes, 'm')).catch(() => undefined))?.format
        if (own === undefined || alone !== own) continue
        for (const name of ['m.weights', 'm.ckpt', ...named]) {
          const { format: found } = await openModel(new MemorySource(bytes, name))
          expect(found, `${format} ${file} as ${name}`).toBe(own)
        }
      }
    },
  )

  it('let a pickle be one', async () => {
    const bytes = fixtureBytes('torch', 'checkpoint-legacy.pt')
    for (const name of ['m.weights', 'm.safetensors', 'm.gguf', 'm'])
      expect((await openModel(new MemorySource(bytes, name))).format).toBe('torch')
  })
})

describe('an archive for TorchServe', () => {
  const bytes = fixtureBytes('torch', 'checkpoint.pt')
  const manifest = { name: 'MAR-INF/MANIFEST.json', content: Buffer.from('{"model": {"serializedFile": "model.pt"}}') }
  const handler = { name: 'handler.py', content: bytesOf('import torch') }

  it.each([true, false])('is the model in it (compressed: %s)', async (deflate) => {
    const plain = await openModel(new MemorySource(bytes, 'model.pt'))
    for (const members of [
      [{ name: 'model.pt', content: bytes, deflate }, handler, manifest],
      [manifest, handler, { name: 'model.pt', content: bytes, deflate }],
    ]) {
      const archive = craftZip(members)
      const source = () => new MemorySource(archive, 'm.mar')
      const model = await openModel(source())
      expect(model.format).toBe('torch')
      expect(model.tensors.map(({ name, shape }) => [name, shape])).toEqual(
        plain.tensors.map(({ name, shape }) => [name, shape]),
      )
      const [mine, theirs] = await Promise.all([model, plain].map((each) => convertToFiles(each, 'safetensors')))
      expect([...mine!.values()]).toEqual([...theirs!.values()])
      expect((await verifySource(source())).findings.filter(({ severity }) => severity === 'error')).toEqual([])
    }
  })

  it('is the file that the manifest names, whatever else is there', async () => {
    const other = { name: 'other.pt', content: fixtureBytes('torch', 'tied.pt') }
    const names = (file: string): Uint8Array => Buffer.from(`{"model": {"serializedFile": "${file}"}}`)
    const bin = { name: 'pytorch_model.bin', content: bytes }
    const plain = await openModel(new MemorySource(bytes, 'model.pt'))
    const chosen = craftZip([other, bin, { ...manifest, content: names('pytorch_model.bin') }])
    const model = await openModel(new MemorySource(chosen, 'm.mar'))
    expect(model.tensors.map(({ name }) => name)).toEqual(plain.tensors.map(({ name }) => name))
    // A manifest that names nothing of the kind, or is none, is as good as no manifest.
    for (const content of [names('gone.pt'), names('handler.py'), bytesOf('{'), bytesOf('[1]')]) {
      const single = craftZip([other, handler, { ...manifest, content }])
      const opened = await openModel(new MemorySource(single, 'm.mar'))
      expect(opened.tensors.length).toBe((await openModel(new MemorySource(other.content, 'other.pt'))).tensors.length)
    }
  })

  it('becomes a checkpoint of its own', async () => {
    const archive = craftZip([{ name: 'model.pt', content: bytes, deflate: false }, manifest])
    const model = await openModel(new MemorySource(archive, 'm.mar'))
    const [written] = [...(await convertToFiles(model, 'torch', { name: 'model.pt' })).values()]
    const again = await openModel(new MemorySource(written!, 'model.pt'))
    expect((await diffModels(model, again)).equal).toBe(true)
    // The archive itself holds more than a model, so it is not written over.
    await expect(convertToFiles(model, 'torch', { name: 'm.mar' })).rejects.toMatchObject({
      code: 'write/not-writable',
    })
  })

  it('that is damaged is found out', async () => {
    const archive = craftZip([{ name: 'model.pt', content: bytes, deflate: false }, manifest])
    const model = await openModel(new MemorySource(archive, 'm.mar'))
    const place = Buffer.from(archive).indexOf(Buffer.from(bytes.subarray(-400, -380)))
    archive[place] = archive[place]! ^ 1
    expect(model.format).toBe('torch')
    expect((await verifySource(new MemorySource(archive, 'm.mar'))).verdict).toBe('errors')
  })
})

it('leaves every file that tare writes to its own format', async () => {
  const model = sampleModel([sampleTensor('w', 'f32', [2, 3])])
  for (const { id, capabilities } of formats) {
    if (!capabilities.write) continue
    const [[, bytes]] = [...(await convertToFiles(model, id))] as [[string, Uint8Array]]
    const found = await openModel(sourceOf(new Map([['m', bytes]]))).catch(() => undefined)
    expect(found?.format ?? id).toBe(id)
  }
})
