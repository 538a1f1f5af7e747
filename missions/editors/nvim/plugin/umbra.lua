-- Umbra in Neovim: what is saved is kept, and :Umbra. `umbra hooks uninstall nvim`
-- removes this file.
if vim.g.loaded_umbra or vim.fn.has("nvim-0.7") == 0 then
  return
end
vim.g.loaded_umbra = 1
vim.g.umbra_command = vim.g.umbra_command or @umbra@

local group = vim.api.nvim_create_augroup("umbra", {})
vim.api.nvim_create_autocmd("BufWritePost", {
  group = group,
  callback = function(event)
    require("umbra").saved(event.buf)
  end,
})
vim.api.nvim_create_autocmd("VimLeavePre", {
  group = group,
  callback = function()
    require("umbra").left()
  end,
})
vim.api.nvim_create_user_command("Umbra", function(given)
  require("umbra").run(given.args)
end, {
  nargs = "*",
  complete = function(lead, line, position)
    return require("umbra").complete(lead, line, position)
  end,
})
