// Times on the wire (decision 9).
import t from 'tap'
import { isoTime, isoTimeOrNull, parseTime, parseTimeOrDate, requireTime } from '../../src/kit/time.js'
import { Random } from '../random.js'

t.test('decision 9: times are written in UTC with milliseconds', async t => {
  t.equal(isoTime(0), '1970-01-01T00:00:00.000Z')
  t.equal(isoTimeOrNull(null), null)
  t.equal(isoTimeOrNull(1), '1970-01-01T00:00:00.001Z')
})

t.test('decision 9: every instant reads as the platform writes it', async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const edges = [
    -1,
    59_999,
    60_000,
    Date.UTC(9999, 11, 31, 23, 59, 59, 999),
    Date.parse('0001-01-01T00:00:00Z'),
  ]
  const drawn = Array.from({ length: 20_000 }, () => Math.floor((random.next() - 0.2) * 2 ** 41))
  const wrong = [...edges, ...drawn].filter(ms => isoTime(ms) !== new Date(ms).toISOString())
  t.same(wrong, [])
  t.equal(isoTime(1.9), '1970-01-01T00:00:00.001Z')
  t.throws(() => isoTime(Number.NaN), RangeError)
})

t.test('any ISO offset is read; finer than milliseconds is cut off', async t => {
  const ms = Date.UTC(2024, 0, 2, 3, 4, 5, 678)
  for (const text of [
    '2024-01-02T03:04:05.678Z',
    '2024-01-02t03:04:05.678z',
    '2024-01-02T03:04:05.678999Z',
    '2024-01-02T05:04:05.678+02:00',
    '2024-01-02T05:04:05.678+0200',
    '2024-01-01T22:34:05.678-04:30',
    '2024-01-02 03:04:05.678Z',
  ]) {
    t.equal(parseTime(text), ms, text)
  }
  t.equal(parseTime('2024-01-02'), null, 'decision 40: a time has a zone')
  t.equal(parseTime('2024-01-02T03:04:05'), null, 'decision 40')
  t.equal(parseTimeOrDate('2024-01-02'), Date.UTC(2024, 0, 2))
  t.equal(parseTime('2024-02-29T00:00:00Z'), Date.UTC(2024, 1, 29))
})

t.test('invalid times are refused', async t => {
  for (const text of [
    '',
    'now',
    '1704164645',
    '2024-13-01T00:00:00Z',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '2023-02-29T00:00:00Z',
    '2024-02-30',
    '2024-01-02T24:00:00Z',
    '2024-01-02T24:00:01Z',
    '2024-01-02T03:60:00Z',
    '2024-01-02T03:04:05+99:00',
    '02024-01-02T03:04:05Z',
    ' 2024-01-02',
  ]) {
    t.equal(parseTime(text), null, text)
  }
  t.throws(() => requireTime('soon', 'sent_at'), /^sent_at: expected a date and time/)
})
