-- Deletes those keys that hold the value; 1 if all of them did. With a second argument it publishes an empty message for
-- each, on the channel of that name and the key's; a user who may not publish releases all the same (pcall). A key of another type makes GET an error, which is
-- kept for the reply (pcall) so that it does not save the keys after it.
local all, failure = 1, nil
for i = 1, #KEYS do
  local held = redis.pcall('GET', KEYS[i])
  if held == ARGV[1] then
    redis.call('DEL', KEYS[i])
    if ARGV[2] then redis.pcall('PUBLISH', ARGV[2] .. KEYS[i], '') end
  else
    all = 0
    if type(held) == 'table' then failure = held end
  end
end
return failure or all
