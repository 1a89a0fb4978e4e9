/** The metadata key under which a container carries what it has no place for. */
export const stowageKey = 'tare.stowage'

/** Whether a key is that one, or one of its further pieces. Entries of a model that have such a key and are no stowage must stand elsewhere. */
export const isStowageKey = (key: string): boolean =>
  key.startsWith(stowageKey) && /^(\.\d+)?$/.test(key.slice(stowageKey.length))
