-- Several acquires of one key each, without tokens, under the restart guard, which looks once for all of them: guard.lua
-- stands before this. KEYS are the locks' keys and then the guard's record; ARGV is the largest TTL, and then a value and a
-- TTL for each. Answers a list with 1 (voted) or 0 (held by another) for each, or what guard.lua answers for all.
local n = #KEYS - 1
local why = unfit(KEYS[n + 1], tonumber(ARGV[1]), '')
if why then return why end
local votes = {}
for i = 1, n do
  votes[i] = redis.call('SET', KEYS[i], ARGV[2 * i], 'NX', 'PX', ARGV[2 * i + 1]) and 1 or 0
end
return votes
