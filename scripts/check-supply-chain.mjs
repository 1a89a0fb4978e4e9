// What comes with the package: every production dependency, installed or optional, with its licence. Fails when one has a licence that is
// not on the list, runs code when it is installed, or has no digest in the lock file. With --sbom FILE it also writes a bill of materials
// (CycloneDX 1.6).
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'

const root = fileURLToPath(new URL('..', import.meta.url))
const allowed = [
  'MIT',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'MIT AND BSD-3-Clause',
  '(MIT AND BSD-3-Clause)',
]
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const manifest = read('package.json')
const { packages } = read('package-lock.json')
const problems = []

for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
  if (manifest.scripts?.[name])
    problems.push(`package.json has a script ${name}, which runs when the package is installed`)
if (manifest.publishConfig?.provenance !== true)
  problems.push('package.json does not ask for provenance in publishConfig')
for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies }))
  if (!/^\d+\.\d+\.\d+$/.test(range)) problems.push(`${name}: the version ${range} is not pinned`)

const shipped = Object.entries(packages)
  .filter(([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer)
  .map(([path, entry]) => ({ name: path.replace(/^.*node_modules\//, ''), ...entry }))
for (const { name, version, integrity, license, hasInstallScript } of shipped) {
  const title = `${name} ${version}`
  if (!integrity) problems.push(`${title}: the lock file has no digest of it`)
  if (hasInstallScript) problems.push(`${title}: it runs code when it is installed`)
  if (!allowed.includes(license)) problems.push(`${title}: its licence is ${license ?? 'not stated'}`)
}

const place = process.argv.indexOf('--sbom')
if (place >= 0) writeFileSync(process.argv[place + 1] ?? 'sbom.json', billOfMaterials())
for (const problem of problems) console.error(problem)
const verdict = problems.length === 0 ? 'licences, digests and scripts are fine' : `${problems.length} problems`
console.log(`${shipped.length} packages are shipped or optional: ${verdict}`)
process.exitCode = problems.length === 0 ? 0 : 1

function billOfMaterials() {
  const bom = new Models.Bom()
  bom.metadata.component = component(Enums.ComponentType.Library, manifest)
  for (const each of shipped) bom.components.add(component(Enums.ComponentType.Library, each))
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  return new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 })
}

function component(type, { name, version, license, integrity }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const made = new Models.Component(type, name, { version, bomRef: purl, purl })
  if (license) made.licenses.add(new Models.NamedLicense(license))
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
  if (digest) made.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(digest, 'base64').toString('hex'))
  return made
}
