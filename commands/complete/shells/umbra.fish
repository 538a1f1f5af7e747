# fish completion for umbra, written by: umbra completion fish

function __umbra_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($words[1] complete fish -- $words[2..-1] "$current" 2>/dev/null)
    or return
    switch " $answer[1] "
        case '* files *'
            __fish_complete_path $current
        case '* dirs *'
            __fish_complete_directories $current
    end
    test (count $answer) -gt 1
    and printf '%s\n' $answer[2..-1]
end

complete -c umbra -f
complete -c umbra -f -k -a '(__umbra_complete)'
