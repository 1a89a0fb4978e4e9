// A flag is declared once, as an entry of a table: the parser, help and the TypeScript type of its value follow from the entry. The key is
// the name in camelCase, so `dryRun` declares `--dry-run` and its value arrives as `options.dryRun`.

export interface Flag {
  /** The letter of the short form. */
  readonly short?: string
  /** How help calls the value: `<file>`, or `[file]` where it can be left out. Absent for a switch. */
  readonly value?: `<${string}>` | `[${string}]`
  /** Absent where only `--no-NAME` exists. */
  readonly description?: string
  /** Adds `--no-NAME`, which gives `false`, with this description. */
  readonly negated?: string
  readonly choices?: readonly string[]
  /** The heading under which help lists it; those of daily use have none. */
  readonly group?: string
  /** What the flag means when its optional value is left out; `true` where this is absent. */
  readonly bare?: string
  /** Whether the next word is meant as the optional value, where there are no choices to tell. */
  readonly accepts?: (word: string) => boolean
  /** Can be given several times; the values arrive as a list. */
  readonly repeat?: true
  /** Throws a `UsageError` that says what is wanted. */
  readonly parse?: (text: string) => unknown
}

export type Flags = Readonly<Record<string, Flag>>

/** What an action gets for the flags that its verb declares. */
export type OptionsOf<F extends Flags> = { readonly [Name in keyof F]?: ValueOf<F[Name]> }

type ValueOf<F extends Flag> =
  | (F extends { repeat: true } ? readonly Parsed<F>[] : Parsed<F>)
  | (F extends { bare: string } ? never : F extends { value: `[${string}]` } ? true : never)
  | (F extends { negated: string } ? false : never)

type Parsed<F extends Flag> = F extends { parse: (text: string) => infer Value }
  ? Value
  : F extends { choices: readonly (infer Choice)[] }
    ? Choice
    : F extends { value: string }
      ? string
      : true

// Both keep the literal types, from which the types of the values follow.
export const defineFlag = <const F extends Flag>(flag: F): F => flag
export const defineFlags = <const F extends Flags>(flags: F): F => flags

/** `--dry-run` for `dryRun`. */
export const longName = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
