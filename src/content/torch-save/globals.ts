// Which names a pickle may mention. Unpickling imports and calls whatever is named, so a checkpoint can do anything that Python can. tare
// calls nothing, and reports what would be called. What ordinary checkpoints need is accepted in silence. Other classes are reported, and their
// objects stay inert. Names of Python's own library are refused, and so is every other function that is called; one that is only stored does
// nothing, and is reported.
import type { ReadContext } from '../../model/index.js'
import { PickleDict, PickleGlobal, PickleList, PickleObject, type PickleValue } from '../../wire/pickle/pickle.js'
import { codes } from './codes.js'
import {
  elementTypes,
  otherConstants,
  packedStorages,
  packedTypes,
  storageTypes,
  untypedStorages,
} from './objects/types.js'
import { standardLibrary } from './standard-library.js'

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

const builtins = words(
  'set frozenset bytearray bytes complex dict list tuple int float str bool slice range xrange object unicode long',
)

/** By module: the names that plain data consist of. */
const harmless: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['collections', words('OrderedDict Counter defaultdict deque')],
  ['__builtin__', builtins],
  ['builtins', builtins],
  ['_codecs', words('encode')],
  ['copyreg', words('_reconstructor')],
  ['copy_reg', words('_reconstructor')],
  [
    'torch',
    new Set([
      'Size',
      'device',
      'Tensor',
      ...storageTypes.keys(),
      ...packedStorages.keys(),
      ...elementTypes.keys(),
      ...packedTypes.keys(),
      ...otherConstants,
      ...untypedStorages,
    ]),
  ],
  ['torch.cuda', new Set(storageTypes.keys())],
  ['torch.storage', new Set(untypedStorages)],
  ['torch.serialization', words('_get_layout')],
  [
    'torch._utils',
    words(
      `_rebuild_tensor _rebuild_tensor_v2 _rebuild_tensor_v3 _rebuild_parameter _rebuild_parameter_with_state _rebuild_qtensor
      _rebuild_sparse_tensor _rebuild_sparse_csr_tensor _rebuild_nested_tensor _rebuild_meta_tensor_no_storage
      _rebuild_device_tensor_from_cpu_tensor _rebuild_device_tensor_from_numpy _rebuild_wrapper_subclass`,
    ),
  ],
  ['torch.nested._internal.nested_tensor', words('_rebuild_njt NestedTensor')],
  ['torch._tensor', words('_rebuild_from_type _rebuild_from_type_v2')],
  ['torch.nn.parameter', words('Parameter Buffer UninitializedParameter UninitializedBuffer')],
])

/** Classes of Python's library that hold data, and functions that rebuild NumPy's arrays: nothing to fear, but not understood. */
const inert: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['argparse', words('Namespace')],
  ['types', words('SimpleNamespace')],
  ['datetime', words('datetime date time timedelta timezone')],
  ['decimal', words('Decimal')],
  ['fractions', words('Fraction')],
  ['uuid', words('UUID')],
  ['pathlib', words('Path PosixPath WindowsPath PurePath PurePosixPath PureWindowsPath')],
  ['pathlib._local', words('Path PosixPath WindowsPath PurePath PurePosixPath PureWindowsPath')],
  ['typing', words('Any Callable Dict FrozenSet Iterable List Mapping Optional Sequence Set Tuple Type Union')],
  ['numpy.core.multiarray', words('_reconstruct scalar')],
  ['numpy._core.multiarray', words('_reconstruct scalar')],
  ['numpy.core.numeric', words('_frombuffer')],
  ['numpy._core.numeric', words('_frombuffer')],
  ['numpy.random._pickle', words('__randomstate_ctor __generator_ctor __bit_generator_ctor')],
])

/** What arrays and numbers of NumPy consist of: see numpy.ts. */
const arrayNames = words('ndarray dtype _reconstruct scalar _frombuffer')

/** What TorchScript says in place of plain lists, and where it notes the type of a value. */
const scriptNames = words(
  'build_intlist build_tensorlist build_doublelist build_boollist build_tensor_from_id restore_type_tag',
)

export type Verdict = 'harmless' | 'inert' | 'unsafe'

export function judgeGlobal({ module, name }: PickleGlobal, isTorchScript = false): Verdict {
  if (harmless.get(module)?.has(name)) return 'harmless'
  if (isTorchScript && (module === '__torch__' || module.startsWith('__torch__.'))) return 'harmless'
  if (isTorchScript && module === 'torch.jit._pickle' && scriptNames.has(name)) return 'harmless'
  if (inert.get(module)?.has(name)) return 'inert'
  const [top = ''] = module.split('.')
  // Classes of the script that trained the model are in __main__.
  const isScript = module === '__main__'
  if (top === '' || (top.startsWith('_') && !isScript) || standardLibrary.has(top)) return 'unsafe'
  if (
    module === 'numpy' &&
    /^(ndarray|dtype|(bool|u?int|float|complex|str|bytes|datetime|timedelta)[0-9]*_?)$/.test(name)
  )
    return 'inert'
  // Functions that compute with tensors, as parts of whole modules that were pickled.
  if (/^torch\.(nn\.functional|nn\.init|_C\._nn)$/.test(module) && /^\w+$/.test(name)) return 'inert'
  // A class, or one inside another. The module `torch` itself has only what is listed above.
  return module !== 'torch' && /^_*[A-Z]\w*(\._*[A-Z]\w*)*$/.test(name) ? 'inert' : 'unsafe'
}

/** A function of some other program, not of Python itself nor reached through it: it does nothing as long as it is not called. */
function isForeign({ module, name }: PickleGlobal): boolean {
  const isPlain = /^\w+(\.\w+)*$/.test(`${module}.${name}`)
  const [top = ''] = module.split('.')
  const isPrivate = top.startsWith('_') && module !== '__main__'
  return isPlain && !isPrivate && ![top, ...name.split('.').slice(0, -1)].some((part) => standardLibrary.has(part))
}

export interface GlobalsOptions {
  readonly isTorchScript?: boolean
  /** The full names of further classes that hold plain data in this kind of file. */
  readonly known?: ReadonlySet<string>
}

export interface NamesAndCalls {
  readonly globals: readonly PickleGlobal[]
  /** Everything that the pickle would call; asked for only when it names what should not be called. */
  readCalls(): readonly PickleObject[]
}

/** Reports every name that is not plain data. */
export function checkGlobals(
  { globals, readCalls }: NamesAndCalls,
  path: string,
  { report }: ReadContext,
  { isTorchScript = false, known }: GlobalsOptions = {},
): void {
  let called: ReadonlySet<string> | undefined
  for (const global of globals) {
    if (known?.has(global.fullName)) continue
    const verdict = judgeGlobal(global, isTorchScript)
    if (verdict === 'harmless') continue
    if (verdict !== 'inert') called ??= calledGlobals(readCalls())
    const [code, message] = describe(global, verdict, called?.has(importOf(global)) ?? false)
    report.report(codes[code], { offset: global.offset, path, message })
  }
}

function describe(global: PickleGlobal, verdict: Verdict, isCalled: boolean): [keyof typeof codes, string] {
  const shown = JSON.stringify(`${global.module} ${global.name}`.slice(0, 200))
  if (verdict === 'inert') {
    const isRead = global.module.startsWith('numpy') && arrayNames.has(global.name)
    const inertly = isRead ? "it is read as data; PyTorch's restricted loader refuses it" : 'it was left as it is'
    return ['unknown-global', `${shown} is not a part of a plain checkpoint; ${inertly}`]
  }
  if (isCalled) return ['unsafe-global', `${shown} would be imported and called when a program loads this file`]
  if (isForeign(global)) return ['stored-global', `${shown} is only stored, not called; it was left as it is`]
  return [
    'unsafe-global',
    `${shown} would be imported when a program loads this file, and stored where it can be called`,
  ]
}

/** Module and name apart: `a.b c` is not `a b.c`. */
const importOf = ({ module, name }: PickleGlobal): string => `${module}\n${name}`

/**
 * The names that a pickle calls: those in the place of a function, and those that are handed to one, which may call them. What is only kept in a
 * list, a dictionary or the state of an object is not called.
 */
function calledGlobals(calls: readonly PickleObject[]): ReadonlySet<string> {
  const called = new Set<string>()
  const seen = new Set<PickleValue>()
  const open: PickleValue[] = calls.flatMap(({ callee, args }) => [callee, args])
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value instanceof PickleGlobal) called.add(importOf(value))
    if (typeof value !== 'object' || seen.has(value)) continue
    seen.add(value)
    for (const part of partsOf(value)) open.push(part)
  }
  return called
}

function* partsOf(value: PickleValue): Generator<PickleValue, void, void> {
  if (value instanceof PickleList) yield* value.items
  else if (value instanceof PickleDict) {
    for (const entry of value.entries()) yield* entry
  } else if (value instanceof PickleObject) {
    yield* value.items
    yield* partsOf(value.entries)
    if (value.state !== undefined) yield value.state
  }
}
