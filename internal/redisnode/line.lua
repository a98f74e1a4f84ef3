-- The line of those who wait for a key, and whose turn it is: see driver.Line. What the server does not allow here fails nothing
-- else (pcall): a line is no part of the lock. lineTTL and mostInLine stand before this. What is no line counts as an empty one.
local function text(key)
  local held = redis.pcall('GET', key)
  return type(held) == 'string' and held or ''
end

local function lineOf(line)
  return string.match(text(line), '^ .* $') or ' '
end

local function setLine(line, names)
  if names == ' ' then redis.pcall('DEL', line) else redis.pcall('SET', line, names, 'PX', lineTTL) end
end

-- join has a waiter stand in a line: in front if it was its turn, or where it stood, or at the end.
local function join(line, turn, waiter)
  local names = lineOf(line)
  if text(turn) == waiter then
    redis.pcall('DEL', turn)
    setLine(line, ' ' .. waiter .. names)
  elseif not string.find(names, ' ' .. waiter .. ' ', 1, true) and #names < mostInLine then
    setLine(line, names .. waiter .. ' ')
  end
end

-- stepOut takes a waiter out of a line, and says whether it was its turn.
local function stepOut(line, turn, waiter)
  local names = lineOf(line)
  local first, last = string.find(names, ' ' .. waiter .. ' ', 1, true)
  if first then setLine(line, string.sub(names, 1, first) .. string.sub(names, last + 1)) end
  if text(turn) ~= waiter then return false end
  redis.pcall('DEL', turn)
  return true
end

-- callNext tells the first in a line that listens that it is its turn, for so long, and says whether there is one. Beside that it
-- gives the error of a server that does not let its user publish.
local function callNext(key, line, turn, channel, time)
  local names, called, failure = lineOf(line), false, nil
  if names == ' ' then return false end
  while names ~= ' ' do
    local waiter, rest = string.match(names, '^ ([^ ]*)(.*)$')
    names = rest
    local heard = redis.pcall('PUBLISH', channel .. waiter, key)
    if type(heard) == 'table' then failure = heard.err break end
    if heard > 0 then
      redis.pcall('SET', turn, waiter, 'PX', time)
      called = true
      break
    end
  end
  setLine(line, names)
  return called, failure
end
