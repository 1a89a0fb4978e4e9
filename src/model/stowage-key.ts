/** The metadata key under which a container carries what it has no place for. */
export const stowageKey = 'tare.stowage'
