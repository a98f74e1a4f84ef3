-- Sets every key to the value with the TTL, if none exists. Looking at all before the first write makes it all or nothing.
-- With 'first' as the third argument it looks first whether the lock can be extended and released: needs.lua stands before this.
-- If that finds plain commands, the answer is {1, what it found}. With a waiter as the fourth, the lines and turns of the keys
-- follow these: see line.lua, which stands before this, too.
local waiter = ARGV[4]
local n = waiter and #KEYS / 3 or #KEYS
local taken = false
for i = 1, n do
  local turn = waiter and text(KEYS[2 * n + i]) or ''
  if redis.call('EXISTS', KEYS[i]) == 1 or (turn ~= '' and turn ~= waiter) then taken = true break end
end
if taken then
  for i = 1, waiter and n or 0 do join(KEYS[n + i], KEYS[2 * n + i], waiter) end
  return 0
end
local found = 0
if ARGV[3] == 'first' then
  for i = 1, n do found = may(KEYS[i], ARGV[1]) end
end
for i = 1, n do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
for i = 1, waiter and n or 0 do stepOut(KEYS[n + i], KEYS[2 * n + i], waiter) end
if found > 0 then return {1, found} end
return 1
