-- What Umbra does in Neovim. `umbra hooks uninstall nvim` removes this file.
local M = {}
local fn = vim.fn

local quiet = 150 -- ms without a save before Umbra is told of those before
local pause = 2000 -- ms between two tellings, however often files are saved
local most = 500 -- files that Umbra is told of at once: a command line has an end

-- The files that were saved and not told of yet; when the first of them was, and
-- when Umbra was told the last time, in ms.
local saves, timer, first, told = {}, nil, 0, -math.huge

-- Umbra is told, and nothing is waited for: no error of its is Neovim's.
local function tell(event, paths)
  pcall(function()
    local handle
    handle = vim.loop.spawn(vim.g.umbra_command, {
      args = vim.list_extend({ "hook", "nvim", event }, paths, 1, math.min(#paths, most)),
      detached = true,
      hide = true,
    }, function()
      handle:close()
    end)
    if handle then
      handle:unref()
    end
  end)
end

-- Tells of what was saved; the files are returned.
local function flush()
  if timer then
    fn.timer_stop(timer)
    timer = nil
  end
  local files = saves
  saves = {}
  if #files > 0 then
    told = vim.loop.now()
    tell("save", files)
  end
  return files
end

-- How long a save waits for others, from now on. Times are in ms.
function M.delay(now, since, last)
  return math.max(0, math.min(math.max(now + quiet, last + pause), since + pause) - now)
end

-- What is saved within a moment is told of together: :wall is one snapshot, and so
-- are the saves of a plugin that writes whenever something changes.
function M.saved(buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  if vim.bo[buffer].buftype ~= "" or file:sub(1, 1) ~= "/" then
    return
  end
  vim.loop.update_time()
  local now = vim.loop.now()
  if #saves == 0 then
    first = now
  end
  if not vim.tbl_contains(saves, file) then
    saves[#saves + 1] = file
  end
  if timer then
    fn.timer_stop(timer)
  end
  timer = fn.timer_start(M.delay(now, first, told), flush)
end

-- One snapshot of a place is enough.
function M.left()
  local here = fn.getcwd()
  for _, file in ipairs(flush()) do
    if vim.startswith(file, here .. "/") then
      return
    end
  end
  tell("leave", { here })
end

-- Where the file is, that commands are about.
local function dir()
  local at = fn.expand("%:p:h")
  return vim.bo.buftype == "" and fn.isdirectory(at) == 1 and at or fn.getcwd()
end

-- What a command says, or with a file to write it into what it complains of; and
-- whether it went well.
local function call(args, into)
  local words = { "sh", "-c", 'cd "$1" || exit; into=$2; shift 2; [ -z "$into" ] || exec >"$into"; exec "$@"', "sh", dir(), into or "" }
  vim.list_extend(words, { vim.g.umbra_command, "--quiet", "--color", "never" })
  vim.list_extend(words, args)
  local said = fn.system(words)
  return said, vim.v.shell_error == 0
end

local function complain(text)
  vim.api.nvim_echo({ { vim.trim(text), "ErrorMsg" } }, true, {})
end

local function scratch(name)
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.modifiable = "nofile", "wipe", false, false
  vim.cmd("silent! file " .. fn.fnameescape("umbra://" .. name))
end

local function show(name, ...)
  local said, well = call({ name, ... })
  if not well then
    return complain(said)
  end
  vim.cmd("new")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(vim.trim(said), "\n"))
  scratch(name)
end

-- Opens the file as it was, read as Neovim would read it; false if it can't be had.
local function open(moment, how)
  if vim.bo.buftype ~= "" or fn.expand("%") == "" or moment == "" then
    complain("umbra: name a moment (Tab lists them), in the window of a file")
    return false
  end
  local was = fn.tempname()
  local said, well = call({ "cat", moment, fn.expand("%:p") }, was)
  if not well then
    fn.delete(was)
    complain(said)
    return false
  end
  local name, type = moment .. "/" .. fn.expand("%:t"), vim.bo.filetype
  vim.cmd(how)
  vim.cmd("silent keepalt 0read ++edit " .. fn.fnameescape(was))
  vim.cmd("silent $delete _")
  fn.delete(was)
  scratch(name)
  vim.bo.filetype = type
  return true
end

-- Who wrote the line that the cursor is on; nil if that can't be told.
local function author()
  if vim.bo.buftype ~= "" or fn.expand("%") == "" or vim.bo.modified then
    complain("umbra: " .. (vim.bo.modified and "write the file first: its lines are counted as they are written" or "be in the window of a file"))
    return nil
  end
  local said, well = call({ "blame", "--json", "-L", fn.line(".") .. ",+1", fn.expand("%:p") })
  if not well then
    complain(vim.startswith(said, '{"error"') and "umbra: " .. fn.json_decode(said).error.message or said)
    return nil
  end
  return fn.json_decode(said).lines[1]
end

-- What is said of a line: where it comes from, by whom and when, and why.
local function origin(line)
  local function filled(words)
    return vim.tbl_filter(function(word)
      return word ~= ""
    end, words)
  end
  local by = line.commit ~= "" and line.commit:sub(1, 10) or line.address ~= "" and line.address or line.message
  local who = filled({ line.agent, vim.startswith(line.at, "0001") and "" or line.at:sub(1, 10) })
  local why = line.prompt ~= "" and line.prompt or line.message
  return table.concat(filled({ by, #who > 0 and "(" .. table.concat(who, ", ") .. ")" or "", why ~= by and why or "" }), " ")
end

local verbs = {
  blame = function()
    local line = author()
    if line then
      vim.api.nvim_echo({ { "umbra: " .. origin(line) } }, true, {})
    end
  end,
  -- The moment that wrote the line.
  show = function()
    local line = author()
    if not line then
      return
    end
    if line.snapshot == "" then
      return complain("umbra: no snapshot has made this line: " .. origin(line))
    end
    show("show", line.snapshot)
  end,
  diff = function(moment)
    local now = vim.api.nvim_get_current_win()
    if not open(moment, "leftabove vnew") then
      return
    end
    vim.cmd("diffthis")
    vim.api.nvim_create_autocmd("BufWipeout", {
      buffer = 0,
      callback = function()
        pcall(vim.api.nvim_win_call, now, function()
          vim.cmd("diffoff")
        end)
      end,
    })
    vim.api.nvim_set_current_win(now)
    vim.cmd("diffthis")
  end,
  log = function()
    show("log")
  end,
  open = function(moment)
    open(moment, "new")
  end,
  snapshot = function(text)
    local said, well = call(text == "" and { "snapshot" } or { "snapshot", "-m", text })
    if not well then
      return complain(said)
    end
    print("umbra: snapshot " .. said:sub(1, 10) .. (vim.bo.modified and ", without what is not written yet" or ""))
  end,
  status = function()
    show("status")
  end,
  timeline = function()
    local at = dir()
    vim.cmd("tabnew")
    fn.termopen({ vim.g.umbra_command, "timeline" }, { cwd = at })
    vim.cmd("startinsert")
  end,
}

local function known()
  local names = vim.tbl_keys(verbs)
  table.sort(names)
  return names
end

function M.complete(lead, line, position)
  local words = vim.split(line:sub(1, position), "%s+")
  if #words <= 2 then
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, known())
  end
  if #words > 3 or (words[2] ~= "diff" and words[2] ~= "open") then
    return {}
  end
  local said, well = call({ "complete", "fish", "--", "cat", lead })
  if not well then
    return {}
  end
  local moments = {}
  for i, text in ipairs(vim.split(said, "\n")) do
    if i > 1 and text ~= "" then -- the first is for a shell
      moments[#moments + 1] = vim.split(text, "\t")[1]
    end
  end
  return moments
end

function M.run(line)
  local verb, rest = line:match("^(%S*)%s*(.-)%s*$")
  local run = verbs[verb == "" and "status" or verb]
  if not run then
    return complain(":Umbra " .. verb .. ": there are " .. table.concat(known(), ", "))
  end
  run(rest)
end

return M
