import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { runCli } from '../cli/run-cli.js'
import { fixturePath, fixturesRoot } from '../support/fixtures.js'

const schemas = join(
  dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')),
  'res/schema',
)
const schema = (name: string): object => JSON.parse(readFileSync(join(schemas, name), 'utf8'))
const ajv = new Ajv({ strict: false, validateFormats: false })
ajv.addSchema(schema('spdx.SNAPSHOT.schema.json'), 'http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json')
ajv.addSchema(schema('jsf-0.82.SNAPSHOT.schema.json'), 'http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json')
const validate = ajv.compile(schema('bom-1.6.SNAPSHOT.schema.json'))

it.each([
  ['a file', join(import.meta.dirname, '../../examples/tiny-mlp.safetensors')],
  ['a directory', join(fixturesRoot, 'mcf', 'inputs', 'hf-model')],
  ['an encoder', fixturePath('embd', 'sect-tiny-bert-1layer.weights')],
])('the bill of materials of %s is CycloneDX 1.6, the same each time', async (_, input) => {
  const { status, stdout } = await runCli('inspect', '--bom', input)
  expect(status).toBe(0)
  expect(validate(JSON.parse(stdout)) || validate.errors).toBe(true)
  expect((await runCli('inspect', '--bom', input)).stdout).toBe(stdout)
})

it('names the architecture, the licence and the digests of all files', async () => {
  const { stdout } = await runCli('inspect', '--bom', fixturePath('embd', 'sect-tiny-bert-1layer.weights'))
  const { component } = JSON.parse(stdout).metadata
  expect(component).toMatchObject({ type: 'machine-learning-model', modelCard: { properties: expect.any(Array) } })
  expect(component.components[0].hashes).toEqual([{ alg: 'SHA-256', content: expect.stringMatching(/^[0-9a-f]{64}$/) }])
})
