// node diff-models.mjs FIRST SECOND: whether two models are equal and, if not, which tensors differ.
import { diff } from 'tare/node'

const { equal, tensors } = await diff(process.argv[2], process.argv[3], { tolerance: 1e-6 })
console.log(equal ? 'equal' : 'different')
for (const { name, change } of tensors) console.log(name, change)
