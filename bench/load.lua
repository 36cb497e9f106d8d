-- Requests the paths of a file in turn, each thread from its own offset. Prints a line of figures.
local paths, pause, once, at = {}, 0, false, 0
local threads = 0
function setup(thread)
   thread:set("number", threads)
   threads = threads + 1
end
function init()
   for line in io.lines(os.getenv("LOAD_PATHS")) do paths[#paths + 1] = line end
   pause = tonumber(os.getenv("LOAD_PAUSE_MS") or "0")
   once = os.getenv("LOAD_ONCE") == "1"
   local headers = { ["Host"] = "127.0.0.1" }
   for name, value in os.getenv("LOAD_HEADERS"):gmatch("([^\n]-): ([^\n]+)") do
      headers[name] = value
   end
   for i, path in ipairs(paths) do paths[i] = wrk.format("GET", path, headers) end
   if not once then at = math.floor(#paths * number / 2) end
end
function request()
   if once and at >= #paths then
      wrk.thread:stop()
      return paths[#paths]
   end
   at = at + 1
   return paths[(at - 1) % #paths + 1]
end
if tonumber(os.getenv("LOAD_PAUSE_MS") or "0") > 0 then
   function delay() return pause end
end
function done(summary, latency, requests)
   local e = summary.errors
   io.write(string.format("FIGURES %d %d %d %d %d\n", summary.requests, summary.duration,
      e.connect + e.read + e.write + e.timeout + e.status,
      latency:percentile(50), latency:percentile(99)))
end
