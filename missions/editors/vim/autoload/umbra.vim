" What Umbra does in Vim. `umbra hooks uninstall vim` removes this file.

let s:quiet = 150 " ms without a save before Umbra is told of those before
let s:pause = 2000 " ms between two tellings, however often files are saved
let s:most = 500 " files that Umbra is told of at once: a command line has an end
let s:saves = [] " the files that were saved and not told of yet
let s:timer = -1
let s:first = 0 " when the first of them was saved, in ms
let s:told = -s:pause " when Umbra was told the last time
let s:begin = reltime()

" Umbra is told, and nothing is waited for: no error of its is Vim's.
function! s:tell(event, paths) abort
  try
    call job_start([g:umbra_command, 'hook', 'vim', a:event] + a:paths[: s:most - 1],
          \ {'in_io': 'null', 'out_io': 'null', 'err_io': 'null', 'stoponexit': ''})
  catch
  endtry
endfunction

function! s:now() abort
  return float2nr(reltimefloat(reltime(s:begin)) * 1000)
endfunction

" How long a save waits for others, from now on. Times are in ms; first is that of
" the first one that waits, told when Umbra was told the last time.
function! umbra#delay(now, first, told) abort
  return max([0, min([max([a:now + s:quiet, a:told + s:pause]), a:first + s:pause]) - a:now])
endfunction

" What is saved within a moment is told of together: :wall is one snapshot, and so
" are the saves of a plugin that writes whenever something changes.
function! umbra#saved(file) abort
  if &buftype !=# '' || a:file[0] !=# '/'
    return
  endif
  let l:now = s:now()
  if empty(s:saves)
    let s:first = l:now
  endif
  if index(s:saves, a:file) < 0
    call add(s:saves, a:file)
  endif
  call timer_stop(s:timer)
  let s:timer = timer_start(umbra#delay(l:now, s:first, s:told), {-> s:flush()})
endfunction

" Tells of what was saved; the files are returned.
function! s:flush() abort
  call timer_stop(s:timer)
  let l:files = s:saves
  let s:saves = []
  if !empty(l:files)
    let s:told = s:now()
    call s:tell('save', l:files)
  endif
  return l:files
endfunction

" One snapshot of a place is enough.
function! umbra#left() abort
  let l:here = getcwd()
  if empty(filter(s:flush(), {_, file -> stridx(file, l:here . '/') == 0}))
    call s:tell('leave', [l:here])
  endif
endfunction

let s:verbs = ['blame', 'diff', 'log', 'open', 'show', 'snapshot', 'status', 'timeline']

function! umbra#complete(lead, line, position) abort
  let l:words = split(strpart(a:line, 0, a:position), '\s\+', 1)
  if len(l:words) <= 2
    return filter(copy(s:verbs), 'stridx(v:val, a:lead) == 0')
  endif
  if len(l:words) > 3 || index(['diff', 'open'], l:words[1]) < 0
    return []
  endif
  " The first line, which may be empty, is for a shell.
  let l:moments = split(s:call(['complete', 'fish', '--', 'cat', a:lead]), "\n", 1)[1:-2]
  return v:shell_error ? [] : map(l:moments, 'split(v:val, "\t")[0]')
endfunction

function! umbra#run(line) abort
  let l:verb = matchstr(a:line, '^\S*')
  let l:rest = substitute(a:line, '^\S*\s*', '', '')
  if l:verb ==# '' || l:verb ==# 'status'
    call s:show('status', s:call(['status']))
  elseif l:verb ==# 'log'
    call s:show('log', s:call(['log']))
  elseif l:verb ==# 'snapshot'
    call s:snapshot(l:rest)
  elseif l:verb ==# 'timeline'
    call s:timeline()
  elseif l:verb ==# 'blame'
    call s:blame()
  elseif l:verb ==# 'show'
    call s:showLine()
  elseif l:verb ==# 'diff'
    call s:diff(l:rest)
  elseif l:verb ==# 'open'
    call s:open(l:rest, 'new')
  else
    call s:complain(':Umbra ' . l:verb . ': there are ' . join(s:verbs, ', '))
  endif
endfunction

function! s:complain(text) abort
  echohl ErrorMsg
  for l:line in split(a:text, "\n")
    echomsg l:line
  endfor
  echohl None
endfunction

" Where the file is, that commands are about.
function! s:dir() abort
  let l:dir = expand('%:p:h')
  return &buftype ==# '' && isdirectory(l:dir) ? l:dir : getcwd()
endfunction

" What a command says, or with a file to write it into what it complains of;
" v:shell_error is its exit code.
function! s:call(args, ...) abort
  let l:words = map([g:umbra_command, '--quiet', '--color', 'never'] + a:args, 'shellescape(v:val)')
  let l:into = a:0 ? ' >' . shellescape(a:1) : ''
  return system('cd ' . shellescape(s:dir()) . ' && ' . join(l:words) . l:into)
endfunction

function! s:scratch(name) abort
  setlocal buftype=nofile bufhidden=wipe noswapfile nomodifiable
  silent! execute 'file' fnameescape('umbra://' . a:name)
endfunction

function! s:show(name, text) abort
  if v:shell_error
    return s:complain(a:text)
  endif
  new
  call setline(1, split(a:text, "\n"))
  call s:scratch(a:name)
endfunction

function! s:snapshot(text) abort
  let l:said = s:call(a:text ==# '' ? ['snapshot'] : ['snapshot', '-m', a:text])
  if v:shell_error
    return s:complain(l:said)
  endif
  echomsg 'umbra: snapshot ' . l:said[:9] . (&modified ? ', without what is not written yet' : '')
endfunction

" Who wrote the line that the cursor is on; empty if that can't be told.
function! s:author() abort
  if &buftype !=# '' || expand('%') ==# '' || &modified
    call s:complain('umbra: ' . (&modified ? 'write the file first: its lines are counted as they are written' : 'be in the window of a file'))
    return {}
  endif
  let l:said = s:call(['blame', '--json', '-L', line('.') . ',+1', expand('%:p')])
  if v:shell_error
    call s:complain(l:said =~# '^{"error"' ? 'umbra: ' . json_decode(l:said).error.message : l:said)
    return {}
  endif
  return get(json_decode(l:said).lines, 0, {})
endfunction

" What is said of a line: where it comes from, by whom and when, and why.
function! s:origin(line) abort
  let l:by = a:line.commit !=# '' ? a:line.commit[:9] : a:line.address !=# '' ? a:line.address : a:line.message
  let l:who = filter([a:line.agent, a:line.at[:3] ==# '0001' ? '' : a:line.at[:9]], 'v:val !=# ""')
  let l:why = a:line.prompt !=# '' ? a:line.prompt : a:line.message
  let l:why = l:why ==# l:by ? '' : l:why
  return join(filter([l:by, empty(l:who) ? '' : '(' . join(l:who, ', ') . ')', l:why], 'v:val !=# ""'))
endfunction

function! s:blame() abort
  let l:line = s:author()
  if !empty(l:line)
    echomsg 'umbra:' s:origin(l:line)
  endif
endfunction

" The moment that wrote the line.
function! s:showLine() abort
  let l:line = s:author()
  if empty(l:line)
    return
  elseif l:line.snapshot ==# ''
    return s:complain('umbra: no snapshot has made this line: ' . s:origin(l:line))
  endif
  call s:show('show', s:call(['show', l:line.snapshot]))
endfunction

function! s:timeline() abort
  if has('terminal')
    call term_start([g:umbra_command, 'timeline'], {'cwd': s:dir(), 'term_finish': 'close'})
  else
    execute '!cd' shellescape(s:dir(), 1) '&&' shellescape(g:umbra_command, 1) 'timeline'
  endif
endfunction

" Opens the file as it was, read as Vim would read it; false if it can't be had.
function! s:open(moment, how) abort
  if &buftype !=# '' || expand('%') ==# '' || a:moment ==# ''
    call s:complain('umbra: name a moment (Tab lists them), in the window of a file')
    return 0
  endif
  let l:was = tempname()
  let l:said = s:call(['cat', a:moment, expand('%:p')], l:was)
  if v:shell_error
    call delete(l:was)
    call s:complain(l:said)
    return 0
  endif
  let l:name = a:moment . '/' . expand('%:t')
  let l:type = &filetype
  execute a:how
  silent execute 'keepalt 0read ++edit' fnameescape(l:was)
  silent $delete _
  call delete(l:was)
  call s:scratch(l:name)
  let &l:filetype = l:type
  return 1
endfunction

function! s:diff(moment) abort
  let l:now = win_getid()
  if !s:open(a:moment, 'leftabove vnew')
    return
  endif
  diffthis
  execute 'autocmd BufWipeout <buffer> call win_execute(' . l:now . ', "diffoff")'
  call win_gotoid(l:now)
  diffthis
endfunction
