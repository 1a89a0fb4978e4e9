// node verify-folder.mjs FOLDER: checks every file in a folder.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { verify } from 'tare/node'

const folder = process.argv[2]
for (const name of (await readdir(folder)).sort()) {
  const { verdict, findings } = await verify(join(folder, name))
  console.log(name, verdict, ...findings.filter(({ severity }) => severity === 'error').map(({ code }) => code))
}
