// Names that deceive: control characters that a terminal would obey, bidirectional marks that reorder text, invisible characters.
import { type Report, verifyCodes } from '../errors/index.js'
import type { Model } from '../model/index.js'

/** C0, DEL, C1, bidirectional controls, zero-width characters and the byte order mark. */
export const deceptiveCharacters = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/

export function checkNames(model: Model, report: Report): void {
  const complain = (name: string, what: string, offset: number | undefined): void => {
    const message = `the ${what} ${JSON.stringify(name)} holds characters that do not show`
    report.report(verifyCodes['name-control'], {
      offset: offset ?? 0,
      path: `${what}[${JSON.stringify(name)}]`,
      message,
    })
  }
  for (const tensor of model.tensors) {
    if (deceptiveCharacters.test(tensor.name)) complain(tensor.name, 'tensor', tensor.data?.origin?.offset)
  }
  for (const key of model.metadata.keys()) if (deceptiveCharacters.test(key)) complain(key, 'metadata', undefined)
}
