// Numbers of shapes lie in journals and snapshots for as long as these do.
import { createHash } from 'node:crypto'
import t from 'tap'
import { shapes } from '../../../src/journal/records/shapes.js'

/** How many shapes there were when the digest was made, and the digest. A new shape at the end changes neither. */
const known = { count: 60, digest: '05a71f1f9d48b2414b2531a19fb2ed2403fe3da9e945cd85680de8b3551b2823' }

t.test('the shapes of journals and snapshots keep their numbers: the list only grows at its end', async t => {
  const digest = createHash('sha256')
    .update(JSON.stringify(shapes.names.slice(0, known.count)))
    .digest('hex')
  t.equal(digest, known.digest)
  t.equal(new Set(shapes.names.map(String)).size, shapes.names.length, 'none is there twice')
})
