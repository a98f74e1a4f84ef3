-- Raises every TTL to at least the one given, if all keys hold the value; all are compared before the first is changed.
-- A late extend must not cut a longer one short, hence PTTL. It is -1 for a key without a TTL, which is given one: a
-- lock that never expires would outlive its holder. PEXPIRE is called also when it changes nothing, because a replica
-- refuses it and would otherwise vote. (PEXPIRE GT would vote there too, and needs Redis 7.)
for i = 1, #KEYS do
  if redis.call('GET', KEYS[i]) ~= ARGV[1] then return 0 end
end
local ttl = tonumber(ARGV[2])
for i = 1, #KEYS do
  redis.call('PEXPIRE', KEYS[i], math.max(ttl, redis.call('PTTL', KEYS[i])))
end
return 1
