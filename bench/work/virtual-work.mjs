// One kind of work on a virtual file, on one thread: `WORK SIZE [FILE]`. What is written goes into a sink that only counts. Hashes are in
// two steps: `seal` converts to AERO with all hashes and keeps what is not data in FILE, `verify` checks the virtual AERO file that this is.
import { readFileSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import {
  CountingSink,
  hashModel,
  openModel,
  planConversion,
  planQuantization,
  runConversion,
  tensorStats,
  verifySource,
} from '../../dist/kit-node.js'
import { RecordingSink, virtualFile, virtualSafetensors } from '../builders/virtual.mjs'
import { answer, seconds } from '../harness/measure.mjs'

const [work, sizeText, file] = process.argv.slice(2)
const size = Number(sizeText)
const open = () => openModel(virtualSafetensors(size))
const allHashes = { 'page-hashes': true, 'control-hash': true }

const works = {
  async plan() {
    const model = await openModel(virtualSafetensors(size, size / 16))
    for (const target of ['gguf', 'aero', 'mcf']) {
      const { plan } = await planConversion(model, target, { name: `out.${target}` })
      if (plan.size < size) throw new Error('the plan is too small')
    }
  },
  async convert() {
    await writeTo(new CountingSink(), await planConversion(await open(), 'gguf', { name: 'out.gguf' }))
  },
  async quantize() {
    await writeTo(new CountingSink(), await planQuantization(await open(), 'mcf', { name: 'out.mcf', method: 'k4' }))
  },
  async hash() {
    await hashModel(await open())
  },
  async stats() {
    for (const tensor of (await open()).tensors) {
      const { mean } = await tensorStats(tensor)
      if (!(Math.abs(mean) < 1)) throw new Error('the mean is wrong')
    }
  },
  async seal() {
    const conversion = await planConversion(await open(), 'aero', { name: 'out.aero', extra: allHashes })
    const sink = new RecordingSink(conversion.layout.files[0].slots)
    await writeTo(sink, conversion)
    writeFileSync(file, serialize(sink.segments))
  },
  async verify() {
    const { verdict } = await verifySource(virtualFile('virtual.aero', deserialize(readFileSync(file))))
    if (verdict !== 'ok') throw new Error(`the verdict is ${verdict}`)
  },
}
answer({ size, seconds: await seconds(works[work]) })

async function writeTo(sink, conversion) {
  await runConversion(conversion, async () => sink)
  const { size: planned } = conversion.plan
  if (sink.position !== planned) throw new Error(`${sink.position} bytes came, ${planned} were planned`)
}
