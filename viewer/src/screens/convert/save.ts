// Two ways out of a page: a file that the user chooses, written as it is made, or the browser's download of a finished file.
import type { Kept } from '../../engine/rooms/models/sinks.js'

interface PickerWindow {
  showSaveFilePicker?(options: { readonly suggestedName: string }): Promise<FileSystemFileHandle>
}

export const canChooseFile = (): boolean => 'showSaveFilePicker' in window

/** Undefined when the user thinks better of it. */
export async function chooseFile(suggestedName: string): Promise<FileSystemFileHandle | undefined> {
  try {
    return await (window as PickerWindow).showSaveFilePicker?.({ suggestedName })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

export function downloadBlob(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

export function downloadAll(files: readonly Kept[]): void {
  for (const { name, file } of files) downloadBlob(name, file)
}
