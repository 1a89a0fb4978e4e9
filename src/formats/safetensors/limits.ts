/** What the reference library reads at most. */
export const maxHeaderLength = 100_000_000
export const metadataKey = '__metadata__'
/** The flag that leaves room in the header. */
export const slackOption = 'header-slack'
