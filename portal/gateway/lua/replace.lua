-- A stored value begins with its fence. Fences have a fixed number of digits, so the script can
-- compare them as text. A value with a higher fence is not replaced.
if tonumber(redis.call("hget", KEYS[1], ARGV[1]) or "0") > tonumber(ARGV[2]) then
    return "purged"
end
if redis.call("getrange", KEYS[2], 0, #ARGV[3] - 1) > ARGV[3] then
    return "outdated"
end
redis.call("set", KEYS[2], ARGV[3] .. ARGV[4], "PX", ARGV[5])
return "stored"
