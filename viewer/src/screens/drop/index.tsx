// The first screen: where a model comes from.
import { useRef } from 'preact/hooks'
import type { NamedFile } from '../../engine/rooms/open.js'
import { addAddress, addFiles } from '../../state/models.js'
import './drop.css'

const named = (files: FileList | null): NamedFile[] =>
  [...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }))

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
      <p class="lead">Drop a file or a folder anywhere on this page. Nothing leaves your machine.</p>
      <div class="choices">
        <button type="button" class="primary" onClick={() => files.current?.click()}>
          Choose files
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          Choose a folder
        </button>
      </div>
      <form onSubmit={openAddress}>
        <label for="address">or open an address</label>
        <div class="row">
          <input id="address" ref={address} type="url" placeholder="https://…/model.safetensors" />
          <button type="submit">Open</button>
        </div>
      </form>
      <p class="faint">
        GGUF, safetensors, PyTorch, ONNX, NumPy, AERO, MCF, OINF, EMBD, Primitiv. Large files are read in parts.
      </p>
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
