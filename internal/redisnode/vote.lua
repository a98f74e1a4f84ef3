-- Acquires under conditions: see driver.Conditions, which also says what the record and the counters are. KEYS are the
-- locks' keys, then their counters if there is a token, then the guard's record if there is a largest TTL, then their lines and
-- turns if there is a waiter, the eighth argument. Answers {1, token}: voted; {0, counter}: held by another; {-1, counter}: token
-- too low; or what guard.lua answers, which stands before this as needs.lua and line.lua do: with 'first' as the seventh argument
-- it looks whether the locks can be extended and released, and adds the plain commands that it finds to its answer.
local value, ttl, token, keep, max, watched = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), ARGV[6]
local waiter = ARGV[8]
local guards = max > 0 and 1 or 0
local n = (#KEYS - guards) / (1 + (token > 0 and 1 or 0) + (waiter and 2 or 0))
local lines, turns = #KEYS - 2 * n, #KEYS - n

if max > 0 then
  local why = unfit(KEYS[waiter and lines or #KEYS], max, watched)
  if why then return why end
end

local counter = 0
if token > 0 then
  for i = 1, n do counter = math.max(counter, tonumber(redis.call('GET', KEYS[n + i]) or 0)) end
end
local taken, ours = false, {}
for i = 1, n do
  -- A key of another type is an error here, and taken.
  local held = redis.pcall('GET', KEYS[i])
  ours[i] = token > 0 and held == value
  local turn = waiter and text(KEYS[turns + i]) or ''
  if (held and not ours[i]) or (turn ~= '' and turn ~= waiter) then taken = true end
end
if taken then
  for i = 1, waiter and n or 0 do join(KEYS[lines + i], KEYS[turns + i], waiter) end
  return {0, counter}
end
if token > 0 and token <= counter then return {-1, counter} end
local found = 0
if ARGV[7] == 'first' then
  for i = 1, n do
    if not ours[i] then found = may(KEYS[i], value) end
  end
end

for i = 1, n do
  local px = ttl
  if ours[i] then px = math.max(ttl, redis.call('PTTL', KEYS[i])) end
  redis.call('SET', KEYS[i], value, 'PX', px)
  if token > 0 then redis.call('SET', KEYS[n + i], ARGV[3], 'PX', keep) end
end
for i = 1, waiter and n or 0 do stepOut(KEYS[lines + i], KEYS[turns + i], waiter) end
if found > 0 then return {1, token, found} end
return {1, token}
