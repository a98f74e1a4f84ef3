-- Sets every key to the value with the TTL, if none exists. Looking at all before the first write makes it all or nothing.
-- With a third argument it looks first whether the lock can be extended and released: needs.lua stands before this. If that
-- finds plain commands, the answer is {1, what it found}.
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
local found = 0
if ARGV[3] then
  for i = 1, #KEYS do found = may(KEYS[i], ARGV[1]) end
end
for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
if found > 0 then return {1, found} end
return 1
