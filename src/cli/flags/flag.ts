export interface OptionRow {
  /** In the notation of commander: `-o, --output <file>`. */
  readonly flags: string
  readonly description: string
  readonly default?: string | number
  readonly choices?: readonly string[]
  /** What the option stands for when its optional value is left out. */
  readonly bare?: string
  /** Whether the next word is meant as the optional value, where there are no choices to tell. */
  readonly accepts?: (word: string) => boolean
  readonly repeat?: boolean
  readonly parse?: (text: string) => unknown
}
