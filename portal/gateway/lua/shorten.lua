if redis.call("getrange", KEYS[1], 0, #ARGV[1] - 1) == ARGV[1] then
    redis.call("pexpireat", KEYS[1], ARGV[2], "LT")
end
