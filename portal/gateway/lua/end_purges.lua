if (redis.call("hget", KEYS[1], "purged_to") or "0") == ARGV[1] then
    redis.call("hset", KEYS[1], "purged_to", ARGV[2])
end
