// node verify-folder.mjs FOLDER: checks every file in a folder.
import { readdir } from 'node:fs/promises'
import { verify } from 'tare/node'

const folder = process.argv[2]
for (const name of (await readdir(folder)).sort()) console.log(name, (await verify(`${folder}/${name}`)).verdict)
