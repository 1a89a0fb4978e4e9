// The completion scripts of the shells. All of them ask `tare complete` what fits; where it has no answer they offer files.

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export const completionScripts: Readonly<Record<Shell, string>> = {
  // Bash takes words apart at colons and equals signs. They are joined here where the line has no space between them, and the part that
  // bash takes for a word before is left out of the answers.
  bash: `# eval "$(tare completion bash)" in ~/.bashrc
_tare() {
  local line rest=$COMP_LINE last=-1 i fixed
  local -a words
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i == 0 || $rest == [[:space:]]* ]]; then last=$((last + 1)); fi
    words[last]=\${words[last]-}\${COMP_WORDS[i]}
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    rest=\${rest#"\${COMP_WORDS[i]}"}
  done
  fixed=\${words[last]}
  if [[ \${COMP_WORDS[COMP_CWORD]} != [:=] ]]; then fixed=\${fixed%"\${COMP_WORDS[COMP_CWORD]}"}; fi
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$(printf '%q' "\${line#"$fixed"}")")
  done < <(tare complete -- "\${words[@]:1}" 2>/dev/null)
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
