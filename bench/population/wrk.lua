-- The load generator's script: reads prepared requests before the clock starts, and sends one after the other.
-- BENCH_REQUESTS is the file, BENCH_HEADER the header that admits them, BENCH_TAG the beginning of the tags of this run (8 bytes).
local requests, count, at, pass = {}, 0, 0, 0
local base = os.getenv("BENCH_TAG")
local tag = base .. "0000"
local concat = table.concat

function init()
  local head = " HTTP/1.1\r\nHost: 127.0.0.1\r\n" .. os.getenv("BENCH_HEADER") .. "\r\n"
  for line in io.lines(os.getenv("BENCH_REQUESTS")) do
    local asked, body = line:match("^([^\t]*)\t(.*)$")
    local _, marks = body:gsub("\1", "")
    local more = ""
    if body ~= "" then
      more = "Content-Type: application/json\r\nContent-Length: " .. (#body + marks * (#tag - 1)) .. "\r\n"
    end
    local whole = asked .. head .. more .. "\r\n" .. body
    count = count + 1
    if marks == 0 then
      requests[count] = whole
    else
      local pieces = {}
      for piece in (whole .. "\1"):gmatch("([^\1]*)\1") do pieces[#pieces + 1] = piece end
      requests[count] = pieces
    end
  end
end

function request()
  at = at + 1
  if at > count then
    at = 1
    pass = pass + 1
    tag = base .. string.format("%04d", pass)
  end
  local one = requests[at]
  if type(one) == "string" then return one end
  return concat(one, tag)
end
