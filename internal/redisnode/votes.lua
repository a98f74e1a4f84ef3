-- Several acquires of one key each, without tokens, under the restart guard, which looks once for all of them: guard.lua
-- and needs.lua stand before this. KEYS are the locks' keys and then the guard's record; ARGV is the largest TTL, then a value
-- and a TTL for each, and one more argument to look whether the locks can be extended and released. Answers a list with
-- 1 (voted) or 0 (held by another) for each, and then the plain commands found; or what guard.lua answers for all.
local n = #KEYS - 1
local why = unfit(KEYS[n + 1], tonumber(ARGV[1]), '')
if why then return why end
local found = 0
if ARGV[2 * n + 2] then
  for i = 1, n do
    if redis.call('EXISTS', KEYS[i]) == 0 then found = may(KEYS[i], ARGV[2 * i]) end
  end
end
local votes = {}
for i = 1, n do
  votes[i] = redis.call('SET', KEYS[i], ARGV[2 * i], 'NX', 'PX', ARGV[2 * i + 1]) and 1 or 0
end
if found > 0 then votes[n + 1] = found end
return votes
