// The first screen: where a model comes from.
import { useRef } from 'preact/hooks'
import type { NamedFile } from '../../engine/rooms/models/open.js'
import type { SampleName } from '../../engine/rooms/models/samples.js'
import { ask } from '../../engine/session.js'
import { addAddress, addFiles } from '../../state/models.js'
import { isOffline } from '../../state/offline.js'
import './drop.css'

const named = (files: FileList | null): NamedFile[] =>
  [...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }))

const samples: readonly (readonly [SampleName, string])[] = [
  ['values', 'a small model'],
  ['quantized', 'the same, quantized'],
  ['damaged', 'a damaged file'],
]

/** As people call them; a test compares them with what the library reads. */
const formatNames = [
  ...['GGUF', 'GGML and GGJT', 'safetensors', 'PyTorch (also distributed)', 'ONNX', 'Keras', 'TensorFlow Lite', 'Flax'],
  ...['NumPy', 'AERO and AEROSET', 'MCF', 'OINF', 'EMBD', 'Primitiv', 'optimizer JSON', 'imatrix'],
]

async function openSample(sample: SampleName): Promise<void> {
  const { name, bytes } = await ask('sample', { name: sample })
  await addFiles([{ path: name, file: new File([bytes], name) }])
}

function Samples() {
  return (
    <p class="samples">
      No model at hand? Look at{' '}
      {samples.map(([name, title], i) => (
        <span key={name}>
          {i > 0 && (i === samples.length - 1 ? ' or ' : ', ')}
          <button type="button" class="link" onClick={() => void openSample(name)}>
            {title}
          </button>
        </span>
      ))}
      .
    </p>
  )
}

export function Drop() {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const address = useRef<HTMLInputElement>(null)
  const openAddress = (event: Event): void => {
    event.preventDefault()
    const text = address.current?.value.trim()
    if (text) void addAddress(text)
  }
  return (
    <div class="drop">
      <h1>Look into a model</h1>
      <div class="zone">
        <p class="lead">Drop a file or a folder anywhere on this page.</p>
        <div class="choices">
          <button type="button" class="primary" onClick={() => files.current?.click()}>
            Choose files
          </button>
          <button type="button" onClick={() => folder.current?.click()}>
            Choose a folder
          </button>
        </div>
        <p class="faint">Nothing leaves your machine. Large files are read in parts.</p>
      </div>
      {isOffline ? (
        <p class="faint">
          Opened from disk, the page makes no requests. To open an address, start it with <code>tare view</code>.
        </p>
      ) : (
        <form onSubmit={openAddress}>
          <label for="address">Or open an address</label>
          <div class="row">
            <input id="address" ref={address} type="url" placeholder="https://…/model.gguf or hf://owner/model" />
            <button type="submit">Open</button>
          </div>
        </form>
      )}
      <Samples />
      <p class="faint formats">Reads {formatNames.join(', ')}.</p>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        onChange={(event) => void addFiles(named(event.currentTarget.files))}
      />
      <input
        ref={folder}
        type="file"
        hidden
        {...{ webkitdirectory: true }}
        onChange={(event) => void addFiles(named(event.currentTarget.files))}
      />
    </div>
  )
}
