-- may fails, with nothing written, if this user must not do to a key what extends and releases do. The key must not exist:
-- then nothing of this changes anything.
local function may(key)
  redis.call('GET', key)
  redis.call('PTTL', key)
  redis.call('PEXPIRE', key, 1)
  redis.call('DEL', key)
end
