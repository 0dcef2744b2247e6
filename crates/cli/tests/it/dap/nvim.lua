-- Drives an adapter by nvim-dap, and prints what the editor shows.
local plugin, juror, program, property, source = unpack(arg)
vim.opt.runtimepath:append(plugin)
vim.opt.swapfile = false
local dap = require('dap')
local deadline = 60000

-- Messages of the plugin would wait for a key.
vim.notify = function(text) io.stderr:write(text .. '\n') end
vim.ui.select = function(items, _, choose) choose(items[1], 1) end

dap.adapters.juror = { type = 'executable', command = juror, args = { 'dap' } }
local stops, ended = {}, false
dap.listeners.after.event_stopped.test = function(_, body) table.insert(stops, body) end
dap.listeners.after.event_terminated.test = function() ended = true end

local function fail(text)
  io.stderr:write(text .. '\n')
  vim.cmd('cquit 1')
end

-- Waits until the editor shows the stop of a number, at a line of a file.
local function shows(number, file, line)
  local function is_there()
    local frame = dap.session() and dap.session().current_frame
    return #stops >= number and frame and frame.source
      and vim.fs.basename(frame.source.path) == file and frame.line == line
  end
  if not vim.wait(deadline, is_there, 10) then
    local frame = dap.session() and dap.session().current_frame
    fail('not at ' .. file .. ':' .. line .. ' but ' .. vim.inspect(frame))
  end
  return stops[number]
end

-- Returns the lines of a buffer that have a sign.
local function signed(buffer, name)
  local lines = {}
  for _, sign in ipairs(vim.fn.sign_getplaced(buffer, { group = '*' })[1].signs) do
    if sign.name == name then
      table.insert(lines, sign.lnum)
    end
  end
  return lines
end

local function expect(what, found, expected)
  if not vim.deep_equal(found, expected) then
    fail(what .. ': ' .. vim.inspect(found) .. ', and not ' .. vim.inspect(expected))
  end
end

-- Asks the adapter.
local function ask(command, arguments)
  local answer
  dap.session():request(command, arguments, function(err, body)
    answer = err and { failed = tostring(err) } or body
  end)
  vim.wait(deadline, function() return answer ~= nil end, 10)
  return answer
end

vim.cmd.edit(source)
local buffer = vim.api.nvim_get_current_buf()
require('dap.breakpoints').set({}, buffer, 30)
dap.run({
  type = 'juror', request = 'launch', name = 'test',
  program = program, properties = { property },
})

expect('reason', shows(1, 'main.c', 30).reason, 'breakpoint')
local is_signed = function() return #signed(buffer, 'DapStopped') == 1 end
vim.wait(deadline, is_signed, 10)
expect('the stop', signed(buffer, 'DapStopped'), { 30 })
expect('the breakpoint', signed(buffer, 'DapBreakpoint'), { 30 })
local frame = dap.session().current_frame.id
local value = ask('evaluate', { expression = 'i', frameId = frame, context = 'watch' })
expect('i', value.result, '0')

dap.step_into({ askForTargets = true })
vim.wait(deadline, function() return #stops >= 2 end, 10)
expect('reason', stops[2].reason, 'step')
local is_inside = function()
  local top = dap.session().current_frame
  return top and top.name == 'queue_new'
end
expect('stepped into queue_new', vim.wait(deadline, is_inside, 10), true)

require('dap.breakpoints').clear()
dap.session():set_breakpoints({ [buffer] = {} })
dap.continue()
vim.wait(deadline, function() return #stops >= 3 end, 10)
expect('reason', stops[3].reason, 'exception')
expect('property', stops[3].text, 'queue_bounds')
local info = ask('exceptionInfo', { threadId = stops[3].threadId })
expect('exception', info.exceptionId, 'property:queue_bounds')

dap.continue()
expect('the end', vim.wait(deadline, function() return ended end, 10), true)
io.stdout:write('the session is over\n')
vim.cmd('qall!')
