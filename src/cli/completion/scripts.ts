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
  local line
  local -a lines found shown
  lines=("\${(@f)$(tare complete --describe -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "$lines" ]]; then
    _files
    return
  fi
  for line in "\${lines[@]}"; do
    found+=("\${line%%$'\\t'*}")
    if [[ $line == *$'\\t'* ]]; then
      line="\${(r:24:)line%%$'\\t'*}\${line#*$'\\t'}"
      shown+=("\${line[1,\${COLUMNS:-80}-1]}")
    fi
  done
  if (( \${#shown} )); then
    compadd -l -d shown -- "\${found[@]}"
  else
    compadd -- "\${found[@]}"
  fi
}
compdef _tare tare
`,
  // Files are offered only where there is nothing else. Fish asks for the condition first.
  fish: `# tare completion fish > ~/.config/fish/completions/tare.fish
function __tare_knows
  set -l words (commandline -opc) (commandline -ct)
  set -g __tare_answers (tare complete --describe -- $words[2..-1] 2>/dev/null)
  test (count $__tare_answers) -gt 0
end
complete -c tare -n __tare_knows -f -a '(printf "%s\\n" $__tare_answers)'
`,
}
