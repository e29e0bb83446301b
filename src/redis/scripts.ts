// Scripts that nodes run in Redis. Each runs as one step in one slot (slots.ts): all keys of a slot begin with one prefix, which
// carries a hash tag. A script that writes data of a shard first compares the mark of the shard's owner.
//
// In the root:
//
//   nodes    hash   node → its own entry (JSON)                slots   hash   number → node
//   lease:N  text   there while node N lives                   joins   number of joins so far
//   shards   hash   shard → epoch:node ('' none)               changes number of changes of nodes and shards
//   p:…      text   a key pair                                 h:…     text   the key of a hold
//   format   of all this (format.ts)
//
// In the slot of a shard S, or of an event's key:
//
//   marks    hash   shard → epoch:node that may write
//   files:S  set    names of a shard's journal segments        file:S:N  text   a segment
//   i:…      text   an idempotency key
//   sealed   end of the filters that have the keys which left Redis, epoch ms
//   floor:S  text   epoch:call:sequence: claims of shard S in this epoch before this call are settled, and records of later
//                   ones come after this sequence. Every earlier epoch is decided (claims.ts)
//   end:S:E  text   the floor of an epoch that is over: claims from this call on have no record
//   void:S   set    epoch:call of claims whose calls had no answer
//
// A shard's mark is `epoch:node`. The root decides who owns a shard (`take`, `reopen`); its owner then fences the shard's slot with
// the new mark (`fence`), and reads the journal. So a node that was replaced writes until its successor reads, and never after.

const prologue = `
local p = KEYS[1]
local function fenced(shard, mark)
  return redis.call('HGET', p .. 'marks', shard) ~= mark
end
local function sealed()
  return tonumber(redis.call('GET', p .. 'sealed') or '0')
end
local function raise(shard, floor)
  if floor == '' then return end
  local epoch, call, behind = string.match(floor, '^(%d+):(%d+):(%d+)$')
  local was, before, from = string.match(redis.call('GET', p .. 'floor:' .. shard) or '', '^(%d+):(%d+):(%d+)$')
  if was == epoch and (tonumber(before) > tonumber(call) or tonumber(from) > tonumber(behind)) then return end
  redis.call('SET', p .. 'floor:' .. shard, floor)
end
local function changed()
  return redis.call('INCR', p .. 'changes')
end
`

/** Every script takes one key, the prefix, and any number of arguments. */
export const scripts = {
  /** node, json, lease ms, slots → slot, or -1 when the cluster is full. */
  join: `
local count = tonumber(ARGV[4])
local from = redis.call('INCR', p .. 'joins')
for i = 0, count - 1 do
  local slot = (from + i) % count
  if redis.call('HSETNX', p .. 'slots', slot, ARGV[1]) == 1 then
    redis.call('HSET', p .. 'nodes', ARGV[1], ARGV[2])
    redis.call('SET', p .. 'lease:' .. ARGV[1], '1', 'PX', ARGV[3])
    changed()
    return slot
  end
end
return -1`,

  /** node, lease ms, json or '' → 1, or 0 when the node was removed. */
  renew: `
if redis.call('HEXISTS', p .. 'nodes', ARGV[1]) == 0 then return 0 end
redis.call('SET', p .. 'lease:' .. ARGV[1], '1', 'PX', ARGV[2])
if ARGV[3] ~= '' then
  redis.call('HSET', p .. 'nodes', ARGV[1], ARGV[3])
  changed()
end
return 1`,

  /** → changes, [node, json, ms left of its lease (0: it has none), …], [shard, mark, …] */
  look: `
local nodes = redis.call('HGETALL', p .. 'nodes')
local out = {}
for i = 1, #nodes, 2 do
  out[#out + 1] = nodes[i]
  out[#out + 1] = nodes[i + 1]
  out[#out + 1] = tostring(math.max(0, redis.call('PTTL', p .. 'lease:' .. nodes[i])))
end
return { redis.call('GET', p .. 'changes') or '0', out, redis.call('HGETALL', p .. 'shards') }`,

  /** node, force ('1': the node leaves by itself, while it has a lease) → 1 when the node is removed. */
  leave: `
if ARGV[2] ~= '1' and redis.call('EXISTS', p .. 'lease:' .. ARGV[1]) == 1 then return 0 end
redis.call('HDEL', p .. 'nodes', ARGV[1])
redis.call('DEL', p .. 'lease:' .. ARGV[1])
local slots = redis.call('HGETALL', p .. 'slots')
for i = 1, #slots, 2 do
  if slots[i + 1] == ARGV[1] then redis.call('HDEL', p .. 'slots', slots[i]) end
end
local shards = redis.call('HGETALL', p .. 'shards')
for i = 1, #shards, 2 do
  local epoch, node = string.match(shards[i + 1], '^(%d+):(.*)$')
  if node == ARGV[1] then redis.call('HSET', p .. 'shards', shards[i], epoch .. ':') end
end
changed()
return 1`,

  /** node, shard → the new mark, or '' when the shard has an owner, or the node was removed. */
  take: `
if redis.call('HEXISTS', p .. 'nodes', ARGV[1]) == 0 then return '' end
local mark = redis.call('HGET', p .. 'shards', ARGV[2]) or '0:'
local epoch, node = string.match(mark, '^(%d+):(.*)$')
if node ~= '' then return '' end
mark = string.format('%.0f', tonumber(epoch) + 1) .. ':' .. ARGV[1]
redis.call('HSET', p .. 'shards', ARGV[2], mark)
changed()
return mark`,

  /** shard, mark, next owner or '' → 1; 0 when the mark is out of date. */
  give: `
if redis.call('HGET', p .. 'shards', ARGV[1]) ~= ARGV[2] then return 0 end
local epoch = tonumber(string.match(ARGV[2], '^(%d+):'))
local to = ARGV[3]
if to ~= '' and redis.call('HEXISTS', p .. 'nodes', to) == 0 then to = '' end
if to ~= '' then epoch = epoch + 1 end
redis.call('HSET', p .. 'shards', ARGV[1], string.format('%.0f', epoch) .. ':' .. to)
changed()
return 1`,

  /** shard, mark, file, name → 1. Makes an empty segment. */
  begin: `
if fenced(ARGV[1], ARGV[2]) then return redis.error_reply('FENCED') end
if redis.call('SADD', p .. 'files:' .. ARGV[1], ARGV[4]) == 0 then return redis.error_reply('EXISTS') end
redis.call('SET', ARGV[3], '')
return 1`,

  /**
   * For each shard: shard, mark, file, offset, bytes, floor of its claims or '' → for each: OK, FENCED or GAP. Without a file
   * ('') only the floor is kept. Sent again, it has the same effect.
   */
  write: `
local out = {}
for i = 1, #ARGV, 6 do
  if fenced(ARGV[i], ARGV[i + 1]) then out[#out + 1] = 'FENCED'
  elseif ARGV[i + 2] ~= '' and redis.call('STRLEN', ARGV[i + 2]) < tonumber(ARGV[i + 3]) then out[#out + 1] = 'GAP'
  else
    if ARGV[i + 2] ~= '' then redis.call('SETRANGE', ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]) end
    raise(ARGV[i], ARGV[i + 5])
    out[#out + 1] = 'OK'
  end
end
return out`,

  /** shard, mark, file, length → 1. */
  cut: `
if fenced(ARGV[1], ARGV[2]) then return redis.error_reply('FENCED') end
local length = tonumber(ARGV[4])
if redis.call('STRLEN', ARGV[3]) > length then
  redis.call('SET', ARGV[3], length > 0 and redis.call('GETRANGE', ARGV[3], 0, length - 1) or '')
end
return 1`,

  /** shard, mark → 1. Writes under earlier marks are refused from now on. Sent again, it has the same effect. */
  fence: `
local had = string.match(redis.call('HGET', p .. 'marks', ARGV[1]) or '0:', '^%d+')
if tonumber(had) > tonumber(string.match(ARGV[2], '^%d+')) then return redis.error_reply('FENCED') end
redis.call('HSET', p .. 'marks', ARGV[1], ARGV[2])
return 1`,

  /** shard, owner, epoch that the shard's slot has → the new mark, of a later epoch than this one. */
  reopen: `
local epoch, node = string.match(redis.call('HGET', p .. 'shards', ARGV[1]) or '0:', '^(%d+):(.*)$')
if node ~= ARGV[2] then return redis.error_reply('FENCED') end
epoch = math.max(tonumber(epoch), tonumber(ARGV[3]))
local mark = string.format('%.0f', tonumber(epoch) + 1) .. ':' .. node
redis.call('HSET', p .. 'shards', ARGV[1], mark)
changed()
return mark`,

  /** shard, mark, file, name → 1. */
  drop: `
if fenced(ARGV[1], ARGV[2]) then return redis.error_reply('FENCED') end
redis.call('SREM', p .. 'files:' .. ARGV[1], ARGV[4])
redis.call('UNLINK', ARGV[3])
return 1`,

  /**
   * ttl ms or 0, end of the filters that the keys are not in, all keys and their values (`claimsText`) → for each key that was
   * taken: its place from 0, the value it has. 'unsealed': keys left Redis that only later filters have, and nothing is
   * claimed. One text: a thousand arguments cost the node that sends them more than the claims themselves. Without a ttl two
   * commands claim hundreds of keys, which costs little more than half as much; `sweep` deletes them in the end.
   */
  claim: `
if sealed() > tonumber(ARGV[2]) then return 'unsealed' end
local out, keys, values = {}, {}, {}
local count = 0
local call = redis.call
for key, value in string.gmatch(ARGV[3], '([^ ]+) ([^ ]+) ') do
  count = count + 1
  keys[count] = key
  values[count] = value
end
local function taken(i, value)
  out[#out + 1] = tostring(i - 1)
  out[#out + 1] = value
end
if ARGV[1] ~= '0' then
  for i = 1, count do
    if not call('SET', keys[i], values[i], 'NX', 'PX', ARGV[1]) then taken(i, call('GET', keys[i])) end
  end
  return out
end
for from = 1, count, 500 do
  local to = math.min(from + 499, count)
  local had = call('MGET', unpack(keys, from, to))
  local fresh, mine = {}, {}
  local length = 0
  for i = from, to do
    local key = keys[i]
    local value = had[i - from + 1] or mine[key]
    if value then taken(i, value)
    else
      mine[key] = values[i]
      fresh[length + 1] = key
      fresh[length + 2] = values[i]
      length = length + 2
    end
  end
  if length > 0 then call('MSET', unpack(fresh)) end
end
return out`,

  /**
   * cursor ('0': from the start), keys to look at, about, an instant, epoch ms → the next cursor ('0': that were all), number
   * of keys deleted: their events were received before that instant.
   */
  sweep: `
local cursor, keys = unpack(redis.call('SCAN', ARGV[1], 'MATCH', p .. 'i:*', 'COUNT', ARGV[2]))
local values = #keys > 0 and redis.call('MGET', unpack(keys)) or {}
local gone = 0
for i, key in ipairs(keys) do
  local received = values[i] and string.match(values[i], '^[^|]*|[^|]*|[^|]*|(%d+)|')
  if received and tonumber(received) < tonumber(ARGV[3]) then gone = gone + redis.call('DEL', key) end
end
return { cursor, gone }`,

  /**
   * For each claim its shard, epoch, call ('none': it has no number), and 'settled' where its owner knows that → for each:
   * 'kept' when the event is in the journal, or the key was given back before; 'free' when the event will never be there; 'busy'
   * when that shows later.
   */
  fates: `
local out = {}
for i = 1, #ARGV, 4 do
  local shard, epoch, call = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]) or math.huge
  local now, floor = string.match(redis.call('GET', p .. 'floor:' .. shard) or '0:0', '^(%d+):(%d+)')
  local isOver = tonumber(now) > epoch
  local settled = 0
  if isOver then settled = tonumber(redis.call('GET', p .. 'end:' .. shard .. ':' .. ARGV[i + 1]) or '0') end
  if tonumber(now) == epoch then settled = tonumber(floor) end
  if ARGV[i + 3] == 'settled' then settled = math.huge end
  if redis.call('SISMEMBER', p .. 'void:' .. shard, ARGV[i + 1] .. ':' .. ARGV[i + 2]) == 1 then
    out[#out + 1] = 'free'
  elseif call < settled then out[#out + 1] = 'kept'
  elseif isOver then out[#out + 1] = 'free'
  else out[#out + 1] = 'busy' end
end
return out`,

  /** ttl ms, then for each key: key, value it had, its new value → for each: 1 when it has the new value now, else 0. */
  swap: `
local out = {}
for i = 2, #ARGV, 3 do
  local same = redis.call('GET', ARGV[i]) == ARGV[i + 1]
  if same then redis.call('SET', ARGV[i], ARGV[i + 2], 'PX', ARGV[1]) end
  out[#out + 1] = same and 1 or 0
end
return out`,

  /** shard, epoch:call, ttl ms → 1. Keys that this call claimed are free. */
  void: `
redis.call('SADD', p .. 'void:' .. ARGV[1], ARGV[2])
redis.call('PEXPIRE', p .. 'void:' .. ARGV[1], ARGV[3])
return 1`,

  /** For each key: key, id of its recorded event → 1. A claim for this event holds for good. */
  mark: `
for i = 1, #ARGV, 2 do
  local value = redis.call('GET', ARGV[i])
  local id = value and string.match(value, '^p[^|]*|([^|]*)|')
  if id == ARGV[i + 1] then
    redis.call('SET', ARGV[i], 'd' .. string.match(value, '|.*$'), 'KEEPTTL')
  end
end
return 1`,

  /**
   * shard, mark, epoch that is over or '', the call of its floor, ttl ms, floor of the present epoch → 1. The records behind
   * the floor of the former epoch are marked: it is decided. Sent again, also later, it has the same effect.
   */
  settled: `
if fenced(ARGV[1], ARGV[2]) then return redis.error_reply('FENCED') end
local had = redis.call('GET', p .. 'floor:' .. ARGV[1])
if had and string.match(had, '^%d+:') == string.match(ARGV[6], '^%d+:') then return 1 end
if ARGV[3] ~= '' then redis.call('SET', p .. 'end:' .. ARGV[1] .. ':' .. ARGV[3], ARGV[4], 'PX', ARGV[5]) end
redis.call('SET', p .. 'floor:' .. ARGV[1], ARGV[6])
return 1`,

  /**
   * end of a span, then for each key: key, id of its event → number of keys deleted: those that these events hold, which are
   * in ClickHouse. Claims count from now on only with filters that reach this end.
   */
  forget: `
if sealed() < tonumber(ARGV[1]) then redis.call('SET', p .. 'sealed', ARGV[1]) end
local gone = 0
for i = 2, #ARGV, 2 do
  local value = redis.call('GET', ARGV[i])
  if value and string.match(value, '^[^|]*|([^|]*)|') == ARGV[i + 1] then gone = gone + redis.call('DEL', ARGV[i]) end
end
return gone`,

  /** → 1. Writes something: waiting for replicas after it covers everything that was written before. */
  touch: `
redis.call('SET', p .. 'touched', '1')
return 1`,

  /** key, value, … → 1. Deletes the keys that have these values. */
  free: `
for i = 1, #ARGV, 2 do
  if redis.call('GET', ARGV[i]) == ARGV[i + 1] then redis.call('DEL', ARGV[i]) end
end
return 1`,

  /**
   * value, ttl ms, key, … → '' when all keys have this value now, else the key with another value, and that
   * value.
   */
  pairs: `
for i = 3, #ARGV do
  local had = redis.call('GET', ARGV[i])
  if had and had ~= ARGV[1] then return { ARGV[i], had } end
end
for i = 3, #ARGV do redis.call('SET', ARGV[i], ARGV[1], 'PX', ARGV[2]) end
return ''`,
} as const

/** Keys and their values as `claim` takes them. words: pairs of both, without blanks. */
export const claimsText = (words: readonly string[]): string => `${words.join(' ')} `

export type ScriptName = keyof typeof scripts

/** The full text of a script. */
export const scriptOf = (name: ScriptName): string => prologue + scripts[name]
