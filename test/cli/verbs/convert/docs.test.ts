// What the page on converting shows is what the commands print.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useTempDir } from '../../../node/temp-dir.js'
import { runCli } from '../../run-cli.js'

const at = useTempDir()
const root = join(import.meta.dirname, '../../../..')

/** A command with what stands below it. */
function* examples(page: string): Generator<{ command: string; output: string }> {
  for (const [, block] of page.matchAll(/```console\n([\s\S]*?)```/g)) {
    const [, ...parts] = block!.split(/^\$ /m)
    for (const part of parts) {
      const [command, ...lines] = part.split('\n')
      yield { command: command!, output: lines.join('\n') }
    }
  }
}

const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]!)
const isFile = (word: string): boolean => /^[\w-]+\.(safetensors|gguf|mcf|npz|yaml)$/.test(word)
const timeless = (text: string): string => text.replace(/[0-9.]+ s$/gm, '0.0 s')

it('runs through as it is printed', async () => {
  copyFileSync(join(root, 'examples/tiny-mlp.safetensors'), at('tiny-mlp.safetensors'))
  const page = readFileSync(join(root, 'docs/convert.md'), 'utf8')
  let count = 0
  for (const { command, output } of examples(page)) {
    const [program, ...words] = wordsOf(command)
    if (program === 'cat') writeFileSync(at(words[0]!), output)
    else {
      const { stdout, stderr } = await runCli(...words.map((word) => (isFile(word) ? at(word) : word)))
      expect(timeless(`${stdout}${stderr}`.replaceAll(at('/'), '')), command).toBe(timeless(output))
      count++
    }
  }
  expect(count).toBeGreaterThan(8)
})
