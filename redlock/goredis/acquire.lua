-- Sets every key to the value with the TTL, if none exists. Looking at all before the first write makes it all or nothing.
-- With a third argument it looks first whether the lock can be extended and released: needs.lua stands before this.
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
if ARGV[3] then
  for i = 1, #KEYS do may(KEYS[i]) end
end
for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
return 1
