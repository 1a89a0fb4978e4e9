// Takes guards out of a copy of dist, one at a time, and lets the fuzzer look for the fault that each of them is there for. Seeds that show
// the fault by themselves are left out, so that it has to be found. `node fuzz/reverts.mjs [NUMBER...]` after a build writes the
// rows of docs/reliability.md; the same seed every time.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { putTable, rowsOf } from './put-table.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const limits = ['--inputs', '5000000', '--seconds', '400', '--seed', '1']

const noReopening = [
  'convert/run.js',
  'return assertOpens(written, plan.target',
  'return written.close(); return assertOpens(written, plan.target',
]
const noCheckOfRepair = [
  'convert/repair/repair.js',
  'assertVerifies(written, format, options.signal);',
  'written.close();',
]

/** Each patch: a file of dist, what is in it, and what takes its place. */
const reverts = [
  {
    number: 1,
    fault: 'a conversion does not compare checksums',
    target: 'embd',
    patches: [
      ['convert/run.js', 'const damage = await findDamage({ signal, pool, onProgress });', 'const damage = [];'],
    ],
  },
  {
    number: 2,
    fault: 'repair takes over an alignment that was refused',
    target: 'gguf',
    patches: [
      ['formats/gguf/metadata.js', 'stated !== undefined', 'true'],
      ['formats/gguf/capabilities.js', 'key === alignmentKey && alignmentOf(value) === undefined', 'false'],
      [
        'formats/gguf/layout.js',
        'return alignmentOf(stated) ?? defaultAlignment;',
        "return stated?.type === 'u32' && isPowerOfTwo(Number(stated.value)) ? Number(stated.value) : defaultAlignment;",
      ],
    ],
  },
  {
    number: 3,
    fault: 'the size of a tensor is not compared with its shape',
    target: 'aero',
    patches: [
      noReopening,
      ['formats/aero/index/place-tensors.js', 'else if (type && !isWhole)', 'else if (false)'],
      ['convert/plan.js', 'assertSizes(stored, fileOf(source));', ''],
    ],
  },
  {
    number: 5,
    fault: 'two paths that are spelled alike give one name',
    target: 'primitiv',
    patches: [['formats/primitiv/tensors.js', 'if (this.#isAmbiguous || this.#isDotted)', 'if (false)']],
  },
  {
    number: 6,
    fault: 'members of an archive may overlap',
    target: 'npz',
    patches: [
      ['wire/zip/local.js', 'refuseOverlap(previous, member, context);', ''],
      ['wire/zip/local.js', 'members.pop();', ''],
    ],
  },
  {
    number: 7,
    fault: 'repair does not verify what it wrote',
    target: 'gguf',
    patches: [noCheckOfRepair],
  },
  {
    number: 8,
    fault: 'a size in JSON stays a BigInt',
    target: 'aeroset',
    patches: [
      ['formats/aero/set/set-json.js', "typeof given === 'bigint' ? Number(given) : given", 'given'],
      [
        'formats/aero/set/set-json.js',
        "if (size !== undefined && (typeof size !== 'number'",
        "if (false && (typeof size !== 'number'",
      ],
      ['formats/aero/set/set-files.js', 'stated.size}`', 'JSON.stringify(stated.size)}`'],
    ],
  },
  {
    number: 10,
    fault: 'globs backtrack',
    target: 'safetensors',
    patches: [
      [
        'transforms/glob.js',
        "return pattern.includes('?')",
        "const text = pattern.split('*').map((piece) => piece.replace(/[^a-z0-9]/gi, '[$&]')).join('[^]*');\n    return (name) => new RegExp('^' + text + '$').test(name);\n    return pattern.includes('?')",
      ],
    ],
  },
  {
    number: 13,
    fault: 'leniently, a tensor may be larger than its storage',
    target: 'torch',
    patches: [
      [
        'content/torch-save/objects/view-budget.js',
        'const fits = (factor) => ',
        'const fits = (factor) => this.#isLenient || ',
      ],
    ],
  },
  {
    number: 15,
    fault: 'a plan says that nothing is lost, and scales are',
    target: 'oinf',
    patches: [['stow/tensors.js', '...(quant && !stored?.quant && { quant: stowQuant(quant) }),', '']],
  },
]

const wanted = process.argv.slice(2).map(Number)
const chosen = reverts.filter(({ number }) => wanted.length === 0 || wanted.includes(number))
const rows = []
for (const revert of chosen) {
  const found = tryWithout(revert)
  rows.push({ ...revert, ...found })
  console.log(
    `${revert.number} ${revert.fault}: ${found.at ? `found after ${found.at} inputs (${found.promise})` : `not found in ${found.inputs}`}`,
  )
}
const isOther = ([number]) => !rows.some((row) => String(row.number) === number)
const cells = rows.map(({ number, fault, target, at, inputs, promise }) => {
  const after = at ? `${at.toLocaleString('en-US')} inputs` : `not in ${inputs.toLocaleString('en-US')}`
  return [String(number), fault, target, after, promise ?? '–']
})
putTable(
  'reverts',
  ['| | guard taken out | fuzzed | found after | broken promise |', '| ---: | --- | --- | ---: | --- |'],
  [...rowsOf('reverts').filter(isOther), ...cells]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map((row) => `| ${row.join(' | ')} |`),
)
process.exitCode = rows.every(({ at }) => at) ? 0 : 1

/** The first promise that breaks, and after how many inputs. */
function tryWithout({ target, patches }) {
  const folder = mkdtempSync(join(tmpdir(), 'tare-revert-'))
  try {
    for (const name of ['dist', 'fuzz', 'fixtures', 'package.json'])
      cpSync(join(root, name), join(folder, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const [file, before, after] of patches) patch(join(folder, 'dist', file), before, after)
    const flags = ['--target', target, '--fresh', '--stop', '--json', '--out', join(folder, 'findings'), ...limits]
    const { stdout, stderr, status } = spawnSync(process.execPath, ['fuzz/run.mjs', ...flags], {
      cwd: folder,
      encoding: 'utf8',
    })
    if (status > 1 || status === null) throw new Error(stderr)
    const { inputs, broken } = JSON.parse(stdout)
    return { inputs, ...broken[0] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function patch(path, before, after) {
  const text = readFileSync(path, 'utf8')
  if (text.split(before).length !== 2) throw new Error(`${path} has other code than this script expects: ${before}`)
  writeFileSync(
    path,
    text.replace(before, () => after),
  )
}
