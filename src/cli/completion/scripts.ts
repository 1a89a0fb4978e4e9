// The completion scripts of the shells. All of them ask `tare complete` what fits; where it has no answer they offer files.

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# eval "$(tare completion bash)" in ~/.bashrc
_tare() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$(printf '%q' "$line")")
  done < <(tare complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _tare tare
`,
  zsh: `#compdef tare
# eval "$(tare completion zsh)" in ~/.zshrc, after compinit
_tare() {
  local -a found
  found=("\${(@f)$(tare complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then
    compadd -- "\${found[@]}"
  else
    _files
  fi
}
compdef _tare tare
`,
  fish: `# tare completion fish > ~/.config/fish/completions/tare.fish
function __tare_complete
  set -l words (commandline -opc) (commandline -ct)
  tare complete -- $words[2..-1] 2>/dev/null
end
complete -c tare -a '(__tare_complete)'
`,
}
