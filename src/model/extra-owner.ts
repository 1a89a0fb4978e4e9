// Who put what there is into `Tensor.extra`. A format that stores all of it, whatever its keys, must know that it is its own, also after
// another container has carried it.
const owners = new WeakMap<object, string>()

export const setExtraOwner = (extra: object, format: string): void => void owners.set(extra, format)

/** The format that it belongs to; undefined where nobody said so. */
export const extraOwner = (extra: object): string | undefined => owners.get(extra)
