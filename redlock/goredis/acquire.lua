-- Sets every key to the value with the TTL, if none exists. One EXISTS before the first write makes it all or nothing.
if redis.call('EXISTS', unpack(KEYS)) > 0 then return 0 end
for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
return 1
