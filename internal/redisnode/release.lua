-- Deletes those keys that hold the value; 1 if all of them did. With a second argument it publishes an empty message for
-- each, on the channel of that name and the key's. A user who may not publish releases all the same (pcall): the answer is then
-- a list of 1 and the error. A key of another type makes GET an error, which is kept for the reply (pcall) so that it does not
-- save the keys after it.
local all, failure, unpublished = 1, nil, nil
for i = 1, #KEYS do
  local held = redis.pcall('GET', KEYS[i])
  if held == ARGV[1] then
    redis.call('DEL', KEYS[i])
    local told = ARGV[2] and redis.pcall('PUBLISH', ARGV[2] .. KEYS[i], '')
    if type(told) == 'table' then unpublished = told.err end
  else
    all = 0
    if type(held) == 'table' then failure = held end
  end
end
if all == 1 and unpublished then return {1, unpublished} end
return failure or all
