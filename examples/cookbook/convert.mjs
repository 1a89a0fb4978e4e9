// node convert.mjs INPUT OUTPUT: floats become f16; says what the conversion lost.
import { convert } from 'tare/node'

const { plan, files } = await convert(process.argv[2], process.argv[3], { cast: 'f16' })
console.log(plan.loss, files[0].name, files[0].size)
