-- A fence (fencing token, see ``Leases``) is the time on the Redis server, so that all machines use
-- one clock. A fence is always higher than the previous fence. If the connection breaks before the
-- reply, the client sends the script again, and the lease already has this holder's token.
if not redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])
    and redis.call("get", KEYS[1]) ~= ARGV[1] then return false end
local now = redis.call("time")
local fence = now[1] * 1000000 + now[2]
local last = tonumber(redis.call("get", KEYS[2]) or "0")
if fence <= last then fence = last + 1 end
local text = string.format("%.0f", fence)
redis.call("set", KEYS[2], text)
return text
