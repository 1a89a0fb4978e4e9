// Which format `Tensor.extra` belongs to. A format that stores all of its entries must recognize its own, even after another container has
// carried them.
const owners = new WeakMap<object, string>()

export const setExtraOwner = (extra: object, format: string): void => void owners.set(extra, format)

/** The format that it belongs to; undefined if unknown. */
export const extraOwner = (extra: object): string | undefined => owners.get(extra)
