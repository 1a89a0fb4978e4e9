// Messages tell what to do about a problem. The command's user types flags and verbs, a program sets options and calls functions; the
// command says so once, when it starts.
let isCommand = false

/** From now on messages are for people who type commands. */
export function speakOfFlags(): void {
  isCommand = true
}

/** What the caller would write: `callerWord('--only', 'only')`. */
export const callerWord = (flag: string, option: string): string => (isCommand ? flag : option)
