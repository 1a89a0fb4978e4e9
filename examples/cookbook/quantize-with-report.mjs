// node quantize-with-report.mjs INPUT OUTPUT: quantizes the large matrices, then measures how far the values moved.
import { convert, diff } from 'tare/node'

const [, , input, output] = process.argv
const { plan } = await convert(input, output, { quantize: 'q8_0' })
for (const { name, action, to } of plan.actions) if (action === 'quantize') console.log(name, to)
for (const { name, values } of (await diff(input, output)).tensors) console.log(name, values?.maxAbs)
