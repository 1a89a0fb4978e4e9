// Messages tell what to do about a problem. The command's user types flags and verbs, a program sets options and calls functions. The command
// and the page, which shows commands to copy, switch to flags; the library never does.
//
// The wording is a setting of the process, as a language would be, and not data on each finding: notes and reasons of plans contain such words,
// too, and are plain strings for those who read a plan. A program that imports the library never turns it on.
let isCommand = false

/** From now on messages in this process name flags and verbs. */
export function speakOfFlags(): void {
  isCommand = true
}

/** What the caller would write: `callerWord('--only', 'only')`. */
export const callerWord = (flag: string, option: string): string => (isCommand ? flag : option)
