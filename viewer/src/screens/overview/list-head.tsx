// The title of a list, and the search in it.
interface ListHeadProps {
  readonly title: string
  readonly placeholder: string
  readonly label: string
  readonly value: string
  onSearch(text: string): void
}

export function ListHead({ title, placeholder, label, value, onSearch }: ListHeadProps) {
  return (
    <header>
      <h2>{title}</h2>
      <input
        type="search"
        placeholder={placeholder}
        aria-label={label}
        value={value}
        onInput={(event) => onSearch(event.currentTarget.value)}
      />
    </header>
  )
}
