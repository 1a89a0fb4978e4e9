// node repair-cut-download.mjs INPUT OUTPUT: saves the tensors that a cut file still has.
import { repair } from 'tare/node'

const { repaired, lost } = await repair(process.argv[2], process.argv[3])
for (const line of repaired) console.log('saved:', line)
for (const line of lost) console.log('lost:', line)
