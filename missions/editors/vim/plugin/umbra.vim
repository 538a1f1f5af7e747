" Umbra in Vim: what is saved is kept, and :Umbra. `umbra hooks uninstall vim`
" removes this file.
if exists('g:loaded_umbra') || !has('job') || !has('timers') || &compatible
  finish
endif
let g:loaded_umbra = 1
let g:umbra_command = get(g:, 'umbra_command', @umbra@)

augroup umbra
  autocmd!
  autocmd BufWritePost * call umbra#saved(expand('<afile>:p'))
  autocmd VimLeavePre * call umbra#left()
augroup END

command! -nargs=* -complete=customlist,umbra#complete Umbra call umbra#run(<q-args>)
