if tonumber(redis.call("hget", KEYS[1], ARGV[1]) or "0") < tonumber(ARGV[2]) then
    redis.call("hset", KEYS[1], ARGV[1], ARGV[2])
end
