/** Whether a text is an address that models are read from, of whatever kind. */
export const isRemote = (text: string): boolean => /^(?:https?|s3|gs|hf):\/\//i.test(text)
